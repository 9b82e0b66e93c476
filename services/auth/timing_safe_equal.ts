/**
 * Comparing secrets.
 *
 * @module
 */

import { nodeCrypto } from "../builtins.ts";

/**
 * Whether two texts are equal. How long that takes tells a stranger nothing about either: not where
 * they differ, and not how long they are.
 */
export function isSameText(a: string, b: string): boolean {
  const { createHash, timingSafeEqual } = nodeCrypto();
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(a), digest(b));
}

/** Comparison of secrets. @module */

import { nodeCrypto } from "../builtins.ts";

/**
 * Whether two texts are equal, in a time that reveals neither where they differ nor their length.
 */
export function timingSafeEqual(a: string, b: string): boolean {
  const { createHash, timingSafeEqual: areEqual } = nodeCrypto();
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return areEqual(digest(a), digest(b));
}

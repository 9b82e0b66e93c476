/**
 * The token of a scraper that cannot log in.
 *
 * @module
 */

import { nodeCrypto } from "../builtins.ts";

/** Takes the same time whatever is given; of the secret not even the length shows. */
export function isMetricsToken(given: string | undefined, secret: string): boolean {
  const { createHash, timingSafeEqual } = nodeCrypto();
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given ?? ""), digest(secret)) && given !== undefined;
}

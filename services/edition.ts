/**
 * The editions of the product.
 *
 * @module
 */

/** From least to most: each edition contains the ones before it. */
export const EDITIONS = ["ce", "pro", "enterprise"] as const;
export type Edition = (typeof EDITIONS)[number];

/** Whether a license for `have` opens what `need` asks for. */
export function includesEdition(have: Edition, need: Edition): boolean {
  return EDITIONS.indexOf(have) >= EDITIONS.indexOf(need);
}

/**
 * The editions of the product.
 *
 * @module
 */

/** From least to most: each edition contains the ones before it. */
export const EDITIONS = ["ce", "pro", "enterprise"] as const;
export type Edition = (typeof EDITIONS)[number];

const NAMES = { ce: "Community Edition", pro: "Pro edition", enterprise: "Enterprise edition" };

/** As in a sentence, e.g. `Pro edition`. */
export const editionName = (edition: Edition): string => NAMES[edition];

/** Whether a license for `have` opens what `need` asks for. */
export function includesEdition(have: Edition, need: Edition): boolean {
  return EDITIONS.indexOf(have) >= EDITIONS.indexOf(need);
}

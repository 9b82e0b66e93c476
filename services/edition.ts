/** The editions of the product. @module */

/** In ascending order: each edition contains the ones before it. */
export const EDITIONS = ["ce", "pro", "enterprise"] as const;
export type Edition = (typeof EDITIONS)[number];

const NAMES = { ce: "Community Edition", pro: "Pro edition", enterprise: "Enterprise edition" };

/** Returns the name in a sentence, e.g. `Pro edition`. */
export const editionName = (edition: Edition): string => NAMES[edition];

/** Whether a license for `have` includes the edition `need`. */
export function includesEdition(have: Edition, need: Edition): boolean {
  return EDITIONS.indexOf(have) >= EDITIONS.indexOf(need);
}

/** The slug of a status page: its name in a form for URLs. @module */

/** Limit of a slug without its number, in characters. */
const SLUG_MAX = 60;

/** For names without any ASCII equivalent. */
const FALLBACK = "page";

/** Letters that Unicode does not decompose into a base letter and marks. */
const LETTERS: Readonly<Record<string, string>> = {
  "ß": "ss",
  "æ": "ae",
  "œ": "oe",
  "ø": "o",
  "ð": "d",
  "đ": "d",
  "þ": "th",
  "ł": "l",
  "ħ": "h",
  "ı": "i",
  "ŋ": "n",
  "ŧ": "t",
};

/**
 * Creates a slug from a name: lower-case ASCII letters and digits with single hyphens, at most 60
 * characters; `page` if nothing is left.
 */
export function createSlug(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/\P{ASCII}/gu, (letter) => LETTERS[letter] ?? letter)
    // "Ada's" is one word.
    .replace(/['\u2019]/g, "");
  const words = plain.split(/[^a-z0-9]+/).filter((word) => word !== "");
  let slug = "";
  for (const word of words) {
    const longer = slug === "" ? word.slice(0, SLUG_MAX) : `${slug}-${word}`;
    if (longer.length > SLUG_MAX) break;
    slug = longer;
  }
  return slug || FALLBACK;
}

/** Returns the slug if it is free, or else the first free one of `slug-2`, `slug-3`, ... */
export function findFreeSlug(slug: string, taken: readonly string[]): string {
  const takenSlugs = new Set(taken);
  let free = slug;
  for (let number = 2; takenSlugs.has(free); number++) free = `${slug}-${number}`;
  return free;
}

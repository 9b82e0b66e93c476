/**
 * The slug of a status page: its name as it can stand in an address.
 *
 * @module
 */

/** Longest slug, without the number that tells it from others. */
const SLUG_MAX = 60;

/** For names of which nothing can be said in ASCII. */
const FALLBACK = "page";

/** Letters that do not fall apart into a base letter and marks. */
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
 * Makes a slug of any name: lower-case ASCII letters and digits, joined by single hyphens, at most
 * 60 characters; `page` where nothing is left.
 */
export function slugOf(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}+/gu, "")
    .toLowerCase()
    .replace(/\P{ASCII}/gu, (letter) => LETTERS[letter] ?? letter)
    // Quotes within words: "Ada's" is one word.
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

/** The slug itself where it is free, else the first free of `slug-2`, `slug-3`, ... */
export function freeSlug(slug: string, taken: readonly string[]): string {
  const others = new Set(taken);
  let free = slug;
  for (let number = 2; others.has(free); number++) free = `${slug}-${number}`;
  return free;
}

/** Codes that people type: setup codes and recovery codes. @module */

/** 32 characters, so 5 bits each, without those that look like another one. */
const ALPHABET = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ";

/** A random code in groups of four, e.g. `K7QF-2MXA-9RTD`. @param length A multiple of four. */
export function makeTypedCode(length: number): string {
  const bytes = crypto.getRandomValues(new Uint8Array(length));
  // 256 is a multiple of 32, so that each character is equally likely.
  return grouped(Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join(""));
}

/** A code as {@linkcode makeTypedCode} writes it, however a person has typed it. */
export const normalizeTypedCode = (given: string): string =>
  grouped(given.toUpperCase().replace(/[- ]/g, ""));

/** In groups of four. */
const grouped = (characters: string) => characters.match(/.{4}/g)!.join("-");

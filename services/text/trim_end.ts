/**
 * Trimming of other characters than white space. An expression such as `/\/+$/` takes quadratic time.
 *
 * @module
 */

/** Removes a character from the end of a text, as often as it is there. */
export function trimEnd(text: string, character: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === character) end--;
  return text.slice(0, end);
}

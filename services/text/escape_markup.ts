/** Text in HTML and XML. @module */

const REFERENCES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
  // A parser would read a carriage return as a line feed.
  "\r": "&#13;",
};

/** Characters that XML cannot contain, not even as a reference (XML 1.0, section 2.2). */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/g;

/** Escapes text for an element, or for an attribute in quotes. */
export function escapeMarkup(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, "\uFFFD")
    .replace(/[&<>"'\r]/g, (character) => REFERENCES[character]!);
}

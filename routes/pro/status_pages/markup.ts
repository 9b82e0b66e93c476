/**
 * HTML and XML with everything escaped that is put into them.
 *
 * @module
 */

/** A piece that is markup already. */
export class Markup {
  constructor(readonly text: string) {}
}

type Piece = string | number | Markup | readonly Markup[] | null | false;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** What no XML may hold, not even escaped (XML 1.0, 2.2), and HTML better does not. */
// deno-lint-ignore no-control-regex
const FORBIDDEN = /[\x00-\x08\x0B\x0C\x0E-\x1F\uFFFE\uFFFF]/g;

/**
 * Tags a template of markup: texts in it are escaped, for elements as well as for attributes in
 * quotes; lists are joined; `null` and `false` are nothing.
 */
export function markup(parts: TemplateStringsArray, ...pieces: Piece[]): Markup {
  return new Markup(String.raw({ raw: parts }, ...pieces.map(written)));
}

/** Markup that is a constant of the program, such as a style sheet. */
export const trusted = (text: string) => new Markup(text);

function written(piece: Piece): string {
  if (piece === null || piece === false) return "";
  if (piece instanceof Markup) return piece.text;
  if (typeof piece === "object") return piece.map(({ text }) => text).join("");
  return escaped(String(piece));
}

function escaped(text: string): string {
  return text.toWellFormed().replace(FORBIDDEN, "\uFFFD")
    .replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

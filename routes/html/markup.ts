/** A template tag for HTML and XML that escapes its values. @module */

import { escapeMarkup } from "../../services/text/escape_markup.ts";

/** Text that is markup and is not escaped again. */
export class Markup {
  constructor(readonly text: string) {}
}

type Value = string | number | Markup | readonly Markup[] | null | false;

/**
 * Tags a template of markup. Strings are escaped, for elements and for attributes in quotes; lists
 * are joined; `null` and `false` are left out.
 */
export function markup(parts: TemplateStringsArray, ...values: Value[]): Markup {
  return new Markup(String.raw({ raw: parts }, ...values.map(markupText)));
}

/** Marks a constant of the program, such as a style sheet, as markup. */
export const trusted = (text: string) => new Markup(text);

function markupText(value: Value): string {
  if (value === null || value === false) return "";
  if (value instanceof Markup) return value.text;
  if (typeof value === "object") return value.map(({ text }) => text).join("");
  return escapeMarkup(String(value));
}

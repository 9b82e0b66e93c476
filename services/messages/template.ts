/**
 * Templates of messages: `{{ event.data.container }}`, `{{#if link}}...{{else}}...{{/if}}` and
 * `{{#each event.data.containers}}{{ this }}{{/each}}`. A template reads fields and runs no code.
 *
 * @module
 */

import { escapeMarkup } from "../text/escape_markup.ts";

/** Limits of a template and of what it makes, in characters. */
export const TEMPLATE_MAX = 16_384;
const OUTPUT_MAX = 65_536;

/** Limit of the texts and fields that are filled in: blocks in each other multiply them. */
const STEPS_MAX = 200_000;

/** Limit of nested blocks. */
const DEPTH_MAX = 10;

export type Template = readonly Part[];

type Part =
  | string
  | { path: readonly string[] }
  | { block: "if" | "each"; path: readonly string[]; body: Part[]; otherwise: Part[] };

/** A problem of a template, with its line. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
}

/** @throws {TemplateError} */
export function parseTemplate(text: string): Template {
  const root: Part[] = [];
  /** The blocks around the current place, and where their parts go. */
  const open: { name: "if" | "each"; parts: Part[]; otherwise: Part[]; line: number }[] = [];
  let parts = root;
  let line = 1;
  const fail = (problem: string): never => {
    throw new TemplateError(`line ${line}: ${problem}`);
  };

  for (const [at, piece] of splitTemplate(text).entries()) {
    if (at % 2 === 0) {
      if (piece.includes("{{")) fail("`{{` without `}}`");
      if (piece !== "") parts.push(piece);
    } else {
      const tag = piece.trim();
      const [, name, path] = /^#(if|each)\s+(\S+)$/.exec(tag) ?? [];
      const current = open.at(-1);
      if (name !== undefined) {
        if (open.length === DEPTH_MAX) fail(`more than ${DEPTH_MAX} blocks in each other`);
        const block = name as "if" | "each";
        const part = { block, path: parsePath(path!, fail), body: [], otherwise: [] };
        parts.push(part);
        open.push({ name: block, parts, otherwise: part.otherwise, line });
        parts = part.body;
      } else if (tag === "else") {
        if (!current || parts === current.otherwise) fail("`{{else}}` outside of a block");
        parts = current!.otherwise;
      } else if (tag.startsWith("/")) {
        if (tag.slice(1) !== current?.name) fail(`\`{{${tag}}}\` closes no block`);
        parts = open.pop()!.parts;
      } else {
        parts.push({ path: parsePath(tag, fail) });
      }
    }
    line += piece.split("\n").length - 1;
  }
  const unclosed = open.at(-1);
  if (unclosed) {
    throw new TemplateError(`line ${unclosed.line}: \`{{#${unclosed.name}}}\` is not closed`);
  }
  return root;
}

/** Texts and, between them, tags without their braces. */
function splitTemplate(text: string): string[] {
  const pieces: string[] = [];
  let from = 0;
  for (let start; (start = text.indexOf("{{", from)) >= 0;) {
    const end = text.indexOf("}}", start + 2);
    if (end < 0) break;
    pieces.push(text.slice(from, start), text.slice(start + 2, end));
    from = end + 2;
  }
  return [...pieces, text.slice(from)];
}

/**
 * Fills a template. Values are escaped for the content type, so that they cannot leave their place.
 *
 * @throws {TemplateError} When the result is too large, or blocks in each other make too many steps.
 */
export function renderTemplate(template: Template, values: object, contentType: string): string {
  const escape = selectEscaper(contentType);
  let length = 0;
  let steps = 0;
  const add = (text: string) => {
    length += text.length;
    if (length > OUTPUT_MAX) {
      throw new TemplateError(`the result has more than ${OUTPUT_MAX} characters`);
    }
    return text;
  };
  const step = (count: number) => {
    steps += count;
    if (steps <= STEPS_MAX) return;
    throw new TemplateError(`the blocks make more than ${STEPS_MAX} texts and fields`);
  };
  const render = (parts: readonly Part[], scopes: readonly object[]): string =>
    parts.map((part) => {
      step(1);
      if (typeof part === "string") return add(part);
      const value = find(part.path, scopes);
      if (!("block" in part)) return add(escape(value));
      const list = Array.isArray(value) ? value : value ? [value] : [];
      if (part.block === "if" || list.length === 0) {
        return render(list.length > 0 ? part.body : part.otherwise, scopes);
      }
      step(list.length);
      return list.map((each) => render(part.body, [{ this: each }, ...scopes])).join("");
    }).join("");
  return render(template, [values]);
}

function parsePath(text: string, fail: (problem: string) => never): string[] {
  return /^[\w-]+(\.[\w-]+){0,9}$/.test(text)
    ? text.split(".")
    : fail(`\`${text.slice(0, 50)}\` is not a field, e.g. event.data.container`);
}

/** The innermost scope that has the first name; `undefined` for a field that is not there. */
function find([first, ...rest]: readonly string[], scopes: readonly object[]): unknown {
  let value = scopes.find((scope) => Object.hasOwn(scope, first!)) as unknown;
  for (const name of [first!, ...rest]) {
    const isObject = value !== null && typeof value === "object";
    if (!isObject || !Object.hasOwn(value as object, name)) return undefined;
    value = (value as Record<string, unknown>)[name];
  }
  return value;
}

type Escaper = (value: unknown) => string;

function selectEscaper(contentType: string): Escaper {
  const type = contentType.split(";")[0]!.trim().toLowerCase();
  if (/[/+]json$/.test(type)) {
    // The template has the quotes around a text.
    return (value) => {
      const json = JSON.stringify(value ?? "");
      return typeof value === "object" && value !== null ? json : json.replace(/^"|"$/g, "");
    };
  }
  if (type === "application/x-www-form-urlencoded") {
    return (value) => encodeURIComponent(toText(value).toWellFormed());
  }
  return /[/+](html|xml)$/.test(type) ? (value) => escapeMarkup(toText(value)) : toText;
}

const toText: Escaper = (value) =>
  value === undefined || value === null
    ? ""
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value);

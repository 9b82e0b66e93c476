/**
 * Files of variables: `.env` and those of `env_file`, as Compose reads them.
 *
 * @see https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/#env-file-syntax
 * @module
 */

import { interpolate } from "./interpolate.ts";
import {
  fail,
  type Loading,
  LONG_NAME,
  type Lookup,
  NAME_MAX,
  type Position,
  quote,
  spend,
  VARIABLE_UNITS,
} from "./scope.ts";

/** Variables of a file. */
export type EnvFile = Map<string, string>;

/** Letters and digits of any script. */
const NAME = /(?:export[ \t]+)?([\p{L}\p{N}_.[\]-]+)[ \t]*/uy;
const BLANK = /(?:[ \t\r\n]|#[^\n]*)+/y;
const REST = /[^\n]*/y;

/** Escape sequences of double quotes, besides the quote itself and octal numbers such as `\\0101`. */
const ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  '"': '"',
  "\\": "\\",
  // Not a variable.
  $: "$$",
};

/**
 * Reads `NAME=value` or `NAME: value` in each line. A name alone has the value of `lookup`, if any.
 *
 * @param path Of its issues.
 * @param lookup Variables that a value may use, and which win over those of files.
 * @param variables Those of the files before, which a value may use, too. The new ones are added.
 */
export function parseEnvFile(
  text: string,
  file: string,
  path: string,
  loading: Loading,
  lookup: Lookup,
  variables: EnvFile = new Map(),
): EnvFile {
  const known: Lookup = (name) => lookup(name) ?? variables.get(name);
  const source = normalize(text);
  const positionAt = lineCounter(source, file);
  let at = 0;
  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    at += found?.[0].length ?? 0;
    return found;
  };

  for (match(BLANK); at < source.length; match(BLANK)) {
    const where = positionAt(at);
    spend(loading, VARIABLE_UNITS, path, where);
    const name = match(NAME)?.[1];
    const separator = source[at];
    if (name === undefined || (separator !== undefined && !"=:\n#".includes(separator))) {
      fail(loading, path, "must have lines of the form NAME=value", where);
      match(REST);
      continue;
    }
    if (name.length > NAME_MAX) fail(loading, path, LONG_NAME, where);
    if (separator === "=" || separator === ":") {
      at++;
      match(/[ \t]*/y);
    }
    const value = separator === "=" || separator === ":" ? readValue(name, where) : lookup(name);
    if (value !== undefined) variables.set(name, value);
  }
  return variables;

  function readValue(name: string, where: Position): string | undefined {
    const quoteMark = source[at];
    if (quoteMark !== "'" && quoteMark !== '"') {
      // Only a space begins a comment: `#` may be the first character of a password or color.
      const plain = match(REST)![0].split(" #", 1)[0]!.trimEnd();
      return interpolate(plain, known, loading, path, where);
    }
    const end = closing(source, at + 1, quoteMark);
    if (end < 0) {
      match(REST);
      return fail(loading, path, `has no closing quote of ${quote(name)}`, where);
    }
    const inner = source.slice(at + 1, end);
    at = end + 1;
    const rest = match(REST)![0].trimStart();
    if (rest !== "" && !rest.startsWith("#")) {
      return fail(loading, path, `has text after the closing quote of ${quote(name)}`, where);
    }
    if (quoteMark === "'") {
      return replaceEscapes(inner, (escape) => escape === "\\'" ? "'" : escape);
    }
    return interpolate(replaceEscapes(inner, readEscape), known, loading, path, where);
  }
}

/** Lines as they are, without quotes and variables, as `docker run --env-file` reads them. */
export function parseRawEnvFile(
  text: string,
  file: string,
  path: string,
  loading: Loading,
  lookup: Lookup,
  variables: EnvFile = new Map(),
): EnvFile {
  for (const [index, line] of normalize(text).split("\n").entries()) {
    const entry = line.trimStart();
    if (entry === "" || entry.startsWith("#")) continue;
    const where = { file, line: index + 1, column: line.length - entry.length + 1 };
    spend(loading, VARIABLE_UNITS, path, where);
    const equals = entry.indexOf("=");
    const name = equals < 0 ? entry : entry.slice(0, equals);
    if (name === "" || /[ \t]/.test(name)) {
      fail(loading, path, "must have lines of the form NAME=value", where);
      continue;
    }
    if (name.length > NAME_MAX) fail(loading, path, LONG_NAME, where);
    const value = equals < 0 ? lookup(name) : entry.slice(equals + 1);
    if (value !== undefined) variables.set(name, value);
  }
  return variables;
}

const normalize = (text: string) => text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");

const OCTAL_ESCAPE = /\\0[0-3][0-7]{2}/y;

/** Replaces each backslash with what follows it. A loop, because a callback for each takes seconds. */
function replaceEscapes(text: string, read: (escape: string) => string): string {
  let result = "";
  let from = 0;
  for (let at = text.indexOf("\\"); at >= 0; at = text.indexOf("\\", from)) {
    OCTAL_ESCAPE.lastIndex = at;
    const escape = text.slice(at, at + (OCTAL_ESCAPE.test(text) ? 5 : 2));
    result += text.slice(from, at) + read(escape);
    from = at + escape.length;
  }
  return result + text.slice(from);
}

/** Sequences that are unknown stay as they are. */
function readEscape(escape: string): string {
  if (escape.length === 2) return ESCAPES[escape[1]!] ?? escape;
  const char = String.fromCharCode(parseInt(escape.slice(2), 8));
  return char === "$" ? "$$" : char;
}

/** Returns the offset of the quote that ends a value, -1 if there is none. */
function closing(source: string, from: number, quoteMark: string): number {
  for (let at = from; at < source.length; at++) {
    if (source[at] === "\\") at++;
    else if (source[at] === quoteMark) return at;
  }
  return -1;
}

/** Offsets must not decrease from call to call. */
function lineCounter(source: string, file: string): (offset: number) => Position {
  let line = 1;
  let start = 0;
  return (offset) => {
    for (let end; (end = source.indexOf("\n", start)) >= 0 && end < offset; start = end + 1) line++;
    return { file, line, column: offset - start + 1 };
  };
}

/**
 * Files of variables: `.env` and those of `env_file`, as Compose reads them.
 *
 * @see https://docs.docker.com/compose/how-tos/environment-variables/variable-interpolation/#env-file-syntax
 * @module
 */

import { interpolate } from "./interpolate.ts";
import { fail, type Loading, type Lookup, type Position, spend, VARIABLE_UNITS } from "./scope.ts";

/** Variables of a file; `null` for a name without a value, which the project's environment sets. */
export type EnvFile = Map<string, string | null>;

const NAME = /(?:export[ \t]+)?([^\s=:#'"]+)[ \t]*/y;
const BLANK = /(?:[ \t\r\n]|#[^\n]*)+/y;
const REST = /[^\n]*/y;

const ESCAPES: Record<string, string> = { n: "\n", r: "\r", t: "\t" };

/**
 * @param path Of its issues.
 * @param lookup Variables that a value may use, besides those above it in the file.
 */
export function parseEnvFile(
  text: string,
  file: string,
  path: string,
  loading: Loading,
  lookup: Lookup,
): EnvFile {
  const variables: EnvFile = new Map();
  const known: Lookup = (name) => lookup(name) ?? variables.get(name) ?? undefined;
  const source = text.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
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
    if (separator !== "=" && separator !== ":") {
      variables.set(name, null);
      continue;
    }
    at++;
    match(/[ \t]*/y);
    const value = readValue(name, where);
    if (value !== undefined) variables.set(name, value);
  }
  return variables;

  function readValue(name: string, where: Position): string | undefined {
    const quoteMark = source[at];
    if (quoteMark !== "'" && quoteMark !== '"') {
      const line = match(REST)![0];
      const plain = line.replace(/(?:^|[ \t]+)#.*$/, "").trimEnd();
      return interpolate(plain, known, loading, path, where);
    }
    const end = closing(source, at + 1, quoteMark);
    if (end < 0) {
      match(REST);
      return fail(loading, path, `has no closing quote of ${name}`, where);
    }
    const inner = source.slice(at + 1, end);
    at = end + 1;
    const rest = match(REST)![0];
    if (!/^[ \t]*(?:#.*)?$/.test(rest)) {
      return fail(loading, path, `has text after the closing quote of ${name}`, where);
    }
    if (quoteMark === "'") return inner.replaceAll("\\'", "'");
    // An escaped dollar sign is not a variable.
    const template = inner.replace(/\\(.)/gs, (escape, char: string) => {
      if (char === "$") return "$$";
      return ESCAPES[char] ?? (`"\\`.includes(char) ? char : escape);
    });
    return interpolate(template, known, loading, path, where);
  }
}

/** Every line as it is, without quotes and variables: `format: raw`. */
export function parseRawEnvFile(text: string): EnvFile {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => {
    const at = line.indexOf("=");
    return at < 0 ? [line.trim(), null] : [line.slice(0, at).trim(), line.slice(at + 1)];
  }));
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

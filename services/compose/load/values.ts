/** Values with a syntax of their own: durations, sizes, commands. @module */

import { byKind, exactList } from "./collections.ts";
import { isNull, type Reader } from "./reader.ts";
import { parsed, text, textOrNumber } from "./scalars.ts";
import { TEXT_MAX } from "./scope.ts";

const NANOSECONDS: Record<string, number> = {
  ns: 1,
  us: 1e3,
  "µs": 1e3,
  // The Greek letter.
  "μs": 1e3,
  ms: 1e6,
  s: 1e9,
  m: 60e9,
  h: 3600e9,
  d: 24 * 3600e9,
  w: 7 * 24 * 3600e9,
};

/** A little less than Go's maximum of 2^63 nanoseconds (292 years). */
const DURATION_MAX_NS = 9e18;

/**
 * Parses a duration such as `1m30s`.
 *
 * @returns Nanoseconds.
 * @throws {Error}
 */
export function parseDuration(duration: string): number {
  let total = 0;
  const rest = duration.replace(/^\+/, "").replace(
    /(\d+(?:\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h|d|w)/gy,
    (_, amount: string, unit: string) => {
      total += Number(amount) * NANOSECONDS[unit]!;
      return "";
    },
  );
  if (duration === "0") return 0;
  if (duration === "" || rest !== "" || total > DURATION_MAX_NS) {
    throw new Error("must be a duration with units, such as 30s or 1m30s");
  }
  return Math.round(total);
}

/** Prints nanoseconds as Go does, e.g. `1m30s`, `1h0m0s` or `1.5ms`. */
export function printDuration(ns: number): string {
  if (ns === 0) return "0s";
  if (ns < 1e3) return `${ns}ns`;
  if (ns < 1e6) return `${ns / 1e3}µs`;
  if (ns < 1e9) return `${ns / 1e6}ms`;
  const minutes = Math.floor(ns / 60e9);
  const seconds = `${Math.round(ns - minutes * 60e9) / 1e9}s`;
  if (minutes === 0) return seconds;
  return minutes < 60
    ? `${minutes}m${seconds}`
    : `${Math.floor(minutes / 60)}h${minutes % 60}m${seconds}`;
}

export const duration: Reader<string> = parsed((value) => printDuration(parseDuration(value)));

/** The engine takes 0 for its default, and refuses less than a millisecond. */
export const healthTime: Reader<string> = parsed((value) => {
  const ns = parseDuration(value);
  if (ns === 0 || ns >= 1e6) return printDuration(ns);
  throw new Error("must be 0 or at least 1ms");
});

/** Microseconds, or a duration. */
export const microseconds: Reader<number> = parsed(
  (value) => /^-?\d+$/.test(value) ? Number(value) : Math.round(parseDuration(value) / 1e3),
  textOrNumber,
);

const SIZE = /^(\d+(?:\.\d*)?|\.\d+) ?([kmgtp])?i?b?$/i;

/**
 * Bytes, or a size such as `512m`; the units are powers of 1024.
 *
 * @see https://github.com/docker/go-units (RAMInBytes)
 * @throws {Error}
 */
export function parseSize(size: string): number {
  const [, amount, unit = ""] = SIZE.exec(size) ?? [];
  const bytes = Math.floor(Number(amount) * 1024 ** (" kmgtp".indexOf(unit.toLowerCase() || " ")));
  if (Number.isSafeInteger(bytes)) return bytes;
  throw new Error("must be a size such as 512m or 2g");
}

/** A size in bytes. As text, as Compose prints it. */
export const bytes: Reader<string> = parsed((size) => String(parseSize(size)), textOrNumber);

/** Like {@linkcode bytes}; -1 means unlimited. */
export const bytesOrUnlimited: Reader<string> = parsed(
  (size) => size === "-1" ? size : String(parseSize(size)),
  textOrNumber,
);

/**
 * Splits a command like a POSIX shell, without expanding anything.
 *
 * @throws {Error} For an open quote.
 */
export function splitWords(command: string): string[] {
  const words: string[] = [];
  let word: string | undefined;
  for (let at = 0; at < command.length; at++) {
    const char = command[at]!;
    if (/[ \t\r\n]/.test(char)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (char === "'") {
      const end = command.indexOf("'", at + 1);
      if (end < 0) throw new Error("has an opening ' without its end");
      word = (word ?? "") + command.slice(at + 1, end);
      at = end;
    } else if (char === '"') {
      word ??= "";
      for (at++; command[at] !== '"'; at++) {
        if (at >= command.length) throw new Error('has an opening " without its end');
        if (command[at] === "\\" && /["\\$`\n]/.test(command[at + 1] ?? "")) at++;
        word += command[at];
      }
    } else if (char === "\\") {
      at++;
      if (command[at] !== "\n") word = (word ?? "") + (command[at] ?? "");
    } else word = (word ?? "") + char;
  }
  return word === undefined ? words : [...words, word];
}

/** A string, which is split, or a list. `null` stands for the image's own. */
export const command: Reader<string[] | null> = (node, path, scope) =>
  isNull(node)
    ? null
    : byKind({ scalar: parsed(splitWords, text, TEXT_MAX), list: exactList(text) })(
      node,
      path,
      scope,
    );

/** Readers of texts, numbers, booleans and what is written as one of them. @module */

import type { ScalarNode } from "./nodes.ts";
import { completing, failAt, isNull, type Reader } from "./reader.ts";
import { NAME_MAX, quote, TEXT_MAX } from "./scope.ts";

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** Maximum length of a value with a syntax of its own, e.g. a port or a mount, in UTF-16 units. */
const PARSED_MAX = 4096;

/** A number as Compose prints it, e.g. in a variable: all digits, and `1.0` with its zero. */
function printScalar({ value, text }: ScalarNode): string {
  if (typeof value !== "number") return String(value);
  if (/^[-+]?\d+$/.test(text)) return text.replace(/^\+/, "");
  return Number.isInteger(value) && /^[-+]?\d+\.\d*$/.test(text) ? `${value}.0` : String(value);
}

/** A string as long as the file may be. */
export const longText: Reader<string> = (node, path, scope) => {
  if (isNull(node)) return undefined;
  if (node.kind === "scalar" && typeof node.value === "string") return node.value;
  const hint = node.kind === "scalar" ? `; write "${quote(printScalar(node))}"` : "";
  return failAt(node, path, scope, `must be a string${hint}`);
};

/** A reader of shorter strings. */
export const upTo = (max: number, from: Reader<string>): Reader<string> => (node, path, scope) => {
  const value = from(node, path, scope);
  if (value === undefined || value.length <= max) return value;
  return failAt(node, path, scope, `must have at most ${max} characters`);
};

export const text: Reader<string> = upTo(TEXT_MAX, longText);

/** A string that is not empty. */
export const name: Reader<string> = (node, path, scope) => {
  const value = text(node, path, scope);
  return value === "" ? failAt(node, path, scope, "must not be empty") : value;
};

/** A string, or a number that becomes one. */
export const textOrNumber: Reader<string> = (node, path, scope) =>
  node.kind === "scalar" && typeof node.value === "number"
    ? upTo(TEXT_MAX, () => printScalar(node))(node, path, scope)
    : text(node, path, scope);

/** A string, number or boolean that becomes a string. */
export const anyText: Reader<string> = (node, path, scope) =>
  node.kind === "scalar" && node.value !== null
    ? upTo(TEXT_MAX, () => printScalar(node))(node, path, scope)
    : failAt(node, path, scope, "must be a string, a number or a boolean");

export const boolean: Reader<boolean> = completing({ values: ["true", "false"] }, (
  node,
  path,
  scope,
) => {
  if (isNull(node)) return undefined;
  if (node.kind === "scalar") {
    const word = String(node.value).toLowerCase();
    if (word === "true" || word === "false") return word === "true";
    if (/^(?:y|n|yes|no|on|off)$/.test(word)) {
      return failAt(node, path, scope, `must be true or false; ${quote(word)} is text in YAML 1.2`);
    }
  }
  return failAt(node, path, scope, "must be true or false");
});

/** A number, or a string with one. */
export const number: Reader<number> = (node, path, scope) => {
  if (isNull(node)) return undefined;
  if (node.kind === "scalar" && typeof node.value === "number" && Number.isFinite(node.value)) {
    return node.value;
  }
  if (node.kind === "scalar" && typeof node.value === "string" && NUMBER.test(node.value)) {
    return Number(node.value);
  }
  return failAt(node, path, scope, "must be a number");
};

export const integer =
  (min = Number.MIN_SAFE_INTEGER, max = Number.MAX_SAFE_INTEGER): Reader<number> =>
  (node, path, scope) => {
    const value = number(node, path, scope);
    if (value === undefined || (Number.isInteger(value) && value >= min && value <= max)) {
      return value;
    }
    const range = max < Number.MAX_SAFE_INTEGER
      ? ` from ${min} to ${max}`
      : min > Number.MIN_SAFE_INTEGER
      ? ` of at least ${min}`
      : "";
    return failAt(node, path, scope, `must be a whole number${range}`);
  };

/** A file mode: an octal number, also as a string. */
export const fileMode: Reader<string> = (node, path, scope) => {
  if (isNull(node)) return undefined;
  // Compose reads a number as it is and a string as octal.
  const mode = node.kind !== "scalar"
    ? NaN
    : typeof node.value === "number"
    ? node.value
    : /^(?:0o?)?[0-7]+$/.test(String(node.value))
    ? parseInt(String(node.value).replace("o", ""), 8)
    : NaN;
  if (Number.isInteger(mode) && mode >= 0 && mode <= 0o7777) {
    return `0${mode.toString(8)}`;
  }
  return failAt(node, path, scope, "must be an octal file mode such as 0440");
};

export const oneOf = <const T extends string>(...values: T[]): Reader<T> =>
  completing({ values }, (node, path, scope) => {
    const value = text(node, path, scope);
    if (value === undefined) return undefined;
    const known = values.find((known) => known === value);
    return known ?? failAt(node, path, scope, `must be one of ${values.join(", ")}`);
  });

/** A string in a format. */
export const format = (pattern: RegExp, message: string): Reader<string> => (node, path, scope) => {
  const value = upTo(NAME_MAX, text)(node, path, scope);
  return value === undefined || pattern.test(value) ? value : failAt(node, path, scope, message);
};

/**
 * A string that `parse` converts; it throws an {@linkcode Error} with the message.
 *
 * @param max Of its length.
 */
export const parsed = <T>(
  parse: (text: string) => T,
  from: Reader<string> = text,
  max = PARSED_MAX,
): Reader<T> =>
(
  node,
  path,
  scope,
) => {
  const value = upTo(max, from)(node, path, scope);
  if (value === undefined) return undefined;
  try {
    return parse(value);
  } catch (error) {
    return failAt(node, path, scope, (error as Error).message);
  }
};

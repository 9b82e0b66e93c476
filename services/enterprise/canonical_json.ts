/**
 * JSON in its canonical form (RFC 8785): one text for one value, whoever writes it.
 *
 * @module
 */

/** Deeper than anything that is stored; more would end the stack instead. */
const DEPTH_MAX = 64;

/**
 * The canonical text of a JSON value. Numbers and strings are written as ECMAScript's
 * `JSON.stringify` does, which is what the RFC prescribes (3.2.2); members are sorted by the UTF-16
 * code units of their names (3.2.3), which is the order of JavaScript's own sort.
 *
 * @throws {TypeError} For what JSON does not have (`undefined`, a function, a symbol, a bigint, a
 * number that is not finite), for half of a surrogate pair, and for what nests too deep.
 */
export function canonicalJson(value: unknown): string {
  return write(value, DEPTH_MAX);
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return text(value);
    case "boolean":
      return value ? "true" : "false";
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`JSON has no number ${value}`);
      return JSON.stringify(value);
    case "object":
      if (value === null) return "null";
      if (depth === 0) throw new TypeError(`Nested more than ${DEPTH_MAX} deep`);
      return Array.isArray(value) ? list(value, depth - 1) : members(value, depth - 1);
    default:
      throw new TypeError(`JSON has no ${typeof value}`);
  }
}

function text(value: string): string {
  if (!value.isWellFormed()) throw new TypeError("Half of a surrogate pair is no text");
  return JSON.stringify(value);
}

function list(values: readonly unknown[], depth: number): string {
  // Array.from, for map() would pass over what is missing.
  return `[${Array.from(values, (value) => write(value, depth)).join(",")}]`;
}

function members(value: object, depth: number): string {
  const names = Object.keys(value).sort();
  const written = names.map((name) =>
    `${text(name)}:${write((value as Record<string, unknown>)[name], depth)}`
  );
  return `{${written.join(",")}}`;
}

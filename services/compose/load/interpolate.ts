/**
 * Variables in values: `$V`, `${V}`, `${V:-default}`, `${V-default}`, `${V:?message}`,
 * `${V?message}`, `${V:+other}`, `${V+other}` and `$$`, nested at will.
 *
 * @see https://github.com/compose-spec/compose-spec/blob/main/12-interpolation.md
 * @module
 */

import {
  CHARACTERS_PER_UNIT,
  fail,
  type Loading,
  type Lookup,
  noteUnset,
  type Position,
  quote,
  spend,
  type UnsetVariables,
  VARIABLE_UNITS,
  warn,
} from "./scope.ts";
import type { Node } from "./nodes.ts";

/** A template that cannot be used; the message says why. */
class TemplateError extends Error {
  override readonly name = "TemplateError";
}

type Operator = ":-" | "-" | ":?" | "?" | ":+" | "+";

type Part = string | { name: string; operator?: Operator; operand: Part[] };

const NESTING_MAX = 20;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const OPERATOR = /:?[-?+]/y;
const VARIABLE_START = /[A-Za-z_{$]/;

/** Returns the file with the variables of all strings replaced; keys stay as they are. */
export async function interpolateFile(file: Node, loading: Loading, lookup: Lookup): Promise<Node> {
  /** Results by node: aliases are the same node. */
  const done = new Map<Node, Node>();

  const replace = (node: Node, path: string): Node => {
    switch (node.kind) {
      case "scalar": {
        const { value, at } = node;
        if (typeof value !== "string" || !value.includes("$")) return node;
        return { ...node, value: interpolate(value, lookup, loading, path, at) ?? value };
      }
      case "list":
        return {
          ...node,
          items: node.items.map((item, at) => replaceOnce(item, `${path}[${at}]`)),
        };
      case "map": {
        const entries: typeof node.entries = new Map();
        for (const [name, { key, value }] of node.entries) {
          const inner = path === "" ? name : `${path}.${name}`;
          entries.set(name, { key, value: replaceOnce(value, inner) });
        }
        return { ...node, entries };
      }
    }
  };
  const replaceOnce = (node: Node, path: string): Node => {
    const result = done.get(node) ?? replace(node, path);
    if (node.kind !== "scalar") done.set(node, result);
    return result;
  };

  // Services and the other parts of the project, one by one.
  for (const [section, { value }] of file.kind === "map" ? file.entries : []) {
    for (const [name, { value: part }] of value.kind === "map" ? value.entries : []) {
      if (part.kind === "scalar") continue;
      await loading.pause();
      replaceOnce(part, `${section}.${name}`);
    }
  }
  return replaceOnce(file, "");
}

/** Replaces the variables of one string; `undefined` after an error. */
export function interpolate(
  text: string,
  lookup: Lookup,
  loading: Loading,
  path: string,
  at: Position,
): string | undefined {
  spend(loading, VARIABLE_UNITS * (text.split("$").length - 1), path, at);
  const known = (name: string) => {
    const value = lookup(name);
    spend(loading, Math.ceil((value?.length ?? 0) / CHARACTERS_PER_UNIT), path, at);
    return value;
  };
  const missing = (name: string) =>
    warn(loading, path, `variable ${quote(name)} is not set, and is replaced with nothing`, at);
  try {
    const parts = parseTemplate(text);
    const unset = unsetIn(parts, lookup);
    if (unset) noteUnset(loading, path, unset);
    return expand(parts, known, missing);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    return fail(loading, path, error.message, at);
  }
}

function expand(parts: Part[], lookup: Lookup, missing: (name: string) => void): string {
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const { name, operator, operand } = part;
    const value = lookup(name);
    if (operator === undefined) {
      if (value === undefined) missing(name);
      return value ?? "";
    }
    // The colon treats an empty variable like one that is not set.
    const isSet = operator.startsWith(":") ? Boolean(value) : value !== undefined;
    const other = () => expand(operand, lookup, missing);
    if (operator.endsWith("+")) return isSet ? other() : "";
    if (isSet) return value!;
    if (operator.endsWith("-")) return other();
    throw new TemplateError(`variable ${quote(name)} is required: ${quote(other() || "not set")}`);
  }).join("");
}

/** The template if it has variables that are not set, without those inside of operands. */
function unsetIn(parts: readonly Part[], lookup: Lookup): UnsetVariables["parts"] | undefined {
  const isUnset = (part: Part) => typeof part !== "string" && lookup(part.name) === undefined;
  if (!parts.some(isUnset)) return undefined;
  const inner = (operand: Part[]) => {
    try {
      return expand(operand, lookup, () => {});
    } catch (error) {
      if (error instanceof TemplateError) return "";
      throw error;
    }
  };
  return parts.map((part) => {
    if (typeof part === "string") return part;
    const { name, operator = "", operand } = part;
    if (!isUnset(part) || operator.endsWith("+")) return inner([part]);
    return { name, fallback: operator.endsWith("-") ? inner(operand) : "" };
  });
}

/** A variable that has no closing brace; braces of its operand may be the reason. */
class UnclosedError extends TemplateError {}

/** @throws {TemplateError} */
function parseTemplate(text: string): Part[] {
  try {
    return parseParts(text, true);
  } catch (error) {
    if (!(error instanceof UnclosedError)) throw error;
    // A brace such as that of `${OPEN:-{}` is not one of a pair.
    return parseParts(text, false);
  }
}

/**
 * @param pairsBraces Whether a brace that an operand opens belongs to the operand with its end, as in
 * `${LIMITS:-{"a":1}}`.
 * @throws {TemplateError}
 */
function parseParts(text: string, pairsBraces: boolean): Part[] {
  let at = 0;

  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0];
    at += found?.length ?? 0;
    return found;
  };

  /** Reads up to the end, or up to the brace that closes an operand. */
  function readParts(depth: number): Part[] {
    if (depth > NESTING_MAX) throw new TemplateError("has too many nested variables");
    const parts: Part[] = [];
    let literal = at;
    let open = 0;
    const endLiteral = () => at > literal && parts.push(text.slice(literal, at));
    for (; at < text.length; at++) {
      const char = text[at];
      if (char === "}" && depth > 0 && open-- === 0) break;
      if (char === "{" && pairsBraces) open++;
      // A dollar sign that begins neither a variable nor another dollar sign stays.
      if (char !== "$" || !VARIABLE_START.test(text[at + 1] ?? "")) continue;
      endLiteral();
      at++;
      if (text[at] === "$") {
        parts.push("$");
        literal = at + 1;
      } else {
        parts.push(readVariable(depth));
        literal = at--;
      }
    }
    endLiteral();
    return parts;
  }

  function readVariable(depth: number): Part {
    const isBraced = text[at] === "{";
    if (isBraced) at++;
    const name = match(NAME);
    if (name === undefined) {
      throw new TemplateError("has ${ without the name of a variable; write $${ for these signs");
    }
    if (!isBraced) return { name, operand: [] };
    const operator = match(OPERATOR) as Operator | undefined;
    const operand = operator ? readParts(depth + 1) : [];
    if (text[at] !== "}") {
      const found = text[at];
      if (found === undefined) throw new UnclosedError(`has no } that ends \${${quote(name)}`);
      throw new TemplateError(`has ${found} in \${${quote(name)}, which is not an operator`);
    }
    at++;
    return operator ? { name, operator, operand } : { name, operand };
  }

  return readParts(0);
}

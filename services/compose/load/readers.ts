/**
 * Readers: each checks a node of the tree and returns its normalised value. The tables of keys
 * (`service_keys.ts`, `project_keys.ts`) are made of them.
 *
 * @module
 */

import { nearest } from "../../input/nearest.ts";
import {
  fail,
  LONG_NAME,
  NAME_MAX,
  type Position,
  quote,
  remember,
  type Scope,
  spend,
  TEXT_MAX,
  warn,
} from "./scope.ts";
import type { MapNode, Node, ScalarNode } from "./nodes.ts";

/** Returns the value; `undefined` if it is not given (`null`), and after an error. */
export interface Reader<T> {
  (node: Node, path: string, scope: Scope): T | undefined;
  /** Completion for editors; none unless given. */
  readonly completion?: Completion;
}

/**
 * Accepted values of a reader, as far as an editor can complete them; `completion.ts` lists them.
 */
export interface Completion {
  /** The keys of a map. Items of a list of maps have the completion of the list. */
  fields?: Fields;
  /** The reader of each entry of a map with any keys. */
  each?: Reader<unknown>;
  values?: readonly string[];
  /** A key that is refused or without effect, and therefore not completed. */
  isHidden?: true;
}

/** Readers by key. */
export type Fields = Readonly<Record<string, Reader<unknown>>>;

/** Result of the readers of a table. */
export type Read<F extends Fields> = {
  [Key in keyof F]?: F[Key] extends Reader<infer T> ? T : never;
};

/** Adds to a new reader what an editor can complete. */
export const completing = <T>(
  completion: Completion | undefined,
  reader: Reader<T>,
): Reader<T> => completion ? Object.assign(reader, { completion }) : reader;

/** Names of services, networks, volumes, configs and secrets. */
const RESOURCE_NAME = /^[a-zA-Z0-9._-]+$/;

const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?$/;

/** Maximum length of a value with a syntax of its own, e.g. a port or a mount, in UTF-16 units. */
const PARSED_MAX = 4096;

/** Adds an error about a node. */
export const failAt = (node: Node, path: string, scope: Scope, message: string): undefined =>
  fail(scope, path, message, node.at);

/** A key that Longshore cannot carry out. Whether it matters depends on others. */
export const present: Reader<true> = completing(
  { isHidden: true },
  (node) => isNull(node) ? undefined : true,
);

export const isNull = (node: Node): boolean => node.kind === "scalar" && node.value === null;

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
const upTo = (max: number, from: Reader<string>): Reader<string> => (node, path, scope) => {
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

/** Returns the items of a list; none for `null`. */
function itemsOf(node: Node, path: string, scope: Scope): [value: Node, path: string][] {
  if (node.kind !== "list") {
    if (!isNull(node)) failAt(node, path, scope, "must be a list");
    return [];
  }
  remember(scope, path, node);
  return node.items.flatMap((item, index): [Node, string][] => {
    const inner = `${path}[${index}]`;
    if (!item.mark) return [[item, inner]];
    return failAt(item, inner, scope, `has !${item.mark}, which only keys of maps may have`) ?? [];
  });
}

/** Returns the entries of a map, without those that have `!reset`; none for `null`. */
export function entriesOf(
  node: Node,
  path: string,
  scope: Scope,
): [name: string, value: Node, path: string, key: Position][] {
  if (node.kind !== "map") {
    if (!isNull(node)) failAt(node, path, scope, "must be a map");
    return [];
  }
  remember(scope, path, node);
  return [...node.entries].filter(([, { value }]) => value.mark !== "reset")
    .map(([name, { key, value }]) => {
      const inner = path === "" ? name : `${path}.${name}`;
      return [name, value, inner, key];
    });
}

/** Repeated entries are dropped, as Compose does. */
export const list = <T>(item: Reader<T>): Reader<T[]> =>
  completing(item.completion, (node, path, scope) => {
    const read = exactList(item)(node, path, scope);
    return read && [...new Set(read)];
  });

/** A list in which equal entries mean something, e.g. the arguments of a command. */
export const exactList = <T>(item: Reader<T>): Reader<T[]> =>
  completing(
    item.completion,
    (node, path, scope) =>
      isNull(node) ? undefined : itemsOf(node, path, scope).flatMap(([each, inner]) => {
        if (isNull(each)) return failAt(each, inner, scope, "must not be empty") ?? [];
        const value = item(each, inner, scope);
        return value === undefined ? [] : [value];
      }),
  );

/** A list whose items each yield several values, e.g. a range of ports. */
export const flatList = <T>(item: Reader<T[]>): Reader<T[]> =>
  completing(item.completion, (node, path, scope) => exactList(item)(node, path, scope)?.flat());

/** Units of each value of a range: a plan compares it with what the engine has. */
const RANGE_UNITS = 8;

/** A value that stands for several, e.g. a range of ports, which count as work. */
export const counted = <T>(reader: Reader<T>, sizeOf: (value: T) => number): Reader<T> =>
  completing(reader.completion, (node, path, scope) => {
    const value = reader(node, path, scope);
    if (value !== undefined) spend(scope, RANGE_UNITS * sizeOf(value), path, node.at);
    return value;
  });

/** A list of names that is short for a map, with the same value for each. */
export const mapOfNames =
  <T>(valueOf: () => T): Reader<Record<string, T>> => (node, path, scope) => {
    const entries = itemsOf(node, path, scope).flatMap(([each, inner]) => {
      const value = upTo(NAME_MAX, name)(each, inner, scope);
      return value === undefined ? [] : [[value, valueOf()] as const];
    });
    return Object.fromEntries(entries);
  };

export const oneOrList = <T>(item: Reader<T>): Reader<T[]> =>
  completing(item.completion, (node, path, scope) => {
    if (node.kind === "list") return list(item)(node, path, scope);
    const value = item(node, path, scope);
    return value === undefined ? undefined : [value];
  });

/** A map with any keys; keys with `null` are left out. */
export const mapOf = <T>(value: Reader<T>, names?: RegExp): Reader<Record<string, T>> =>
  completing({ each: value }, (node, path, scope) => {
    if (isNull(node)) return undefined;
    const read = entriesOf(node, path, scope).flatMap(([name, each, inner, key]) => {
      if (names && !names.test(name)) return fail(scope, inner, NAME_RULE, key) ?? [];
      const result = value(each, inner, scope);
      return result === undefined ? [] : [[name, result] as const];
    });
    return Object.fromEntries(read);
  });

const NAME_RULE = "must have a name of letters, digits, dots, dashes and underscores only";

/** A map from names of services, networks or other parts of the project; `null` is an empty entry. */
export const named = <T>(value: Reader<T>): Reader<Record<string, T>> =>
  mapOf(value, RESOURCE_NAME);

/** A map, or a list of `NAME=value`; what has no value is `null`. */
export const variables: Reader<Record<string, string | null>> = (node, path, scope) => {
  if (isNull(node)) return undefined;
  if (node.kind === "list") {
    return Object.fromEntries(
      itemsOf(node, path, scope).flatMap(([item, inner]) => {
        const entry = text(item, inner, scope);
        if (entry === undefined) return [];
        const at = entry.indexOf("=");
        const name = at < 0 ? entry : entry.slice(0, at);
        if (name === "") return failAt(item, inner, scope, "must have the form NAME=value") ?? [];
        if (name.length > NAME_MAX) return failAt(item, inner, scope, LONG_NAME) ?? [];
        return [[name, at < 0 ? null : entry.slice(at + 1)]];
      }),
    );
  }
  return Object.fromEntries(
    entriesOf(node, path, scope).map(([name, value, inner]) => [
      name,
      isNull(value) ? null : anyText(value, inner, scope) ?? null,
    ]),
  );
};

/** Like {@linkcode variables}, but what has no value is empty. */
export const strings: Reader<Record<string, string>> = (node, path, scope) => {
  const read = variables(node, path, scope);
  return read &&
    Object.fromEntries(Object.entries(read).map(([name, value]) => [name, value ?? ""]));
};

/** A map with known keys. Other keys are errors, except those of extensions (`x-…`). */
export const object = <F extends Fields>(
  fields: F,
  { required = [], instead = {} }: {
    required?: readonly (keyof F & string)[];
    /** Replacements for keys of older formats. */
    instead?: Readonly<Record<string, string>>;
  } = {},
): Reader<Read<F>> =>
  completing({ fields }, (node, path, scope) => {
    if (isNull(node)) return undefined;
    const read: Record<string, unknown> = {};
    for (const [name, value, inner, key] of entriesOf(node, path, scope)) {
      if (name.startsWith("x-")) continue;
      if (!Object.hasOwn(fields, name)) {
        fail(scope, inner, unknownMessage(name, Object.keys(fields), instead), key);
        continue;
      }
      const result = fields[name]!(value, inner, scope);
      if (result !== undefined) read[name] = result;
    }
    const given = node as MapNode;
    for (const name of given.entries ? required : []) {
      if (!given.entries.has(name)) failAt(node, path, scope, `must have ${name}`);
    }
    return read as Read<F>;
  });

function unknownMessage(
  name: string,
  known: readonly string[],
  instead: Readonly<Record<string, string>>,
): string {
  if (Object.hasOwn(instead, name)) return instead[name]!;
  const close = nearest(name, known);
  return close === undefined ? "is not a key of this map" : `is unknown; did you mean ${close}?`;
}

/** Reads by the kind of the node. */
export const byKind = <S = never, L = never, M = never>(readers: {
  scalar?: Reader<S>;
  list?: Reader<L>;
  map?: Reader<M>;
}): Reader<S | L | M> =>
  completing(
    Object.assign({}, ...Object.values(readers).map(({ completion }) => completion)),
    (node, path, scope) => {
      if (isNull(node) && !readers.scalar) return undefined;
      const reader = readers[node.kind];
      if (reader) return reader(node, path, scope);
      const kinds = Object.keys(readers).map((kind) => KINDS[kind as Node["kind"]]);
      return failAt(node, path, scope, `must be ${kinds.join(" or ")}`);
    },
  );

const KINDS: Record<Node["kind"], string> = { scalar: "a string", list: "a list", map: "a map" };

/** A key that does less here than in Compose, which a warning says. */
export const limited = <T>(
  reader: Reader<T>,
  message: string,
  completion: Completion | undefined = reader.completion,
): Reader<T> =>
  completing(completion, (node, path, scope) => {
    const value = reader(node, path, scope);
    if (value !== undefined) warn(scope, path, message);
    return value;
  });

/** A key that is read, but has no effect here. */
export const withoutEffect = <T>(reader: Reader<T>, reason: string): Reader<T> =>
  limited(reader, `has no effect: ${reason}`, { isHidden: true });

/** A key of the Compose Specification that cannot be deployed here. */
export const impossible = (reason: string): Reader<never> =>
  completing<never>({ isHidden: true }, (node, path, scope) => failAt(node, path, scope, reason));

/** Readers of lists and maps. @module */

import { nearest } from "../../input/nearest.ts";
import type { MapNode, Node } from "./nodes.ts";
import { completing, failAt, type Fields, isNull, type Read, type Reader } from "./reader.ts";
import { anyText, name, text, upTo } from "./scalars.ts";
import { fail, LONG_NAME, NAME_MAX, type Position, remember, type Scope, spend } from "./scope.ts";

/** Names of services, networks, volumes, configs and secrets. */
const RESOURCE_NAME = /^[a-zA-Z0-9._-]+$/;

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

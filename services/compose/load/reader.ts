/**
 * Readers: each checks a node of the tree and returns its normalised value. The tables of keys
 * (`service_keys.ts`, `project_keys.ts`) are made of them; `scalars.ts` and `collections.ts` have those
 * of values.
 *
 * @module
 */

import type { Node } from "./nodes.ts";
import { fail, type Scope, warn } from "./scope.ts";

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

/** Adds an error about a node. */
export const failAt = (node: Node, path: string, scope: Scope, message: string): undefined =>
  fail(scope, path, message, node.at);

/** A key that Longshore cannot carry out. Whether it matters depends on others. */
export const present: Reader<true> = completing(
  { isHidden: true },
  (node) => isNull(node) ? undefined : true,
);

export const isNull = (node: Node): boolean => node.kind === "scalar" && node.value === null;

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

/** Positions, problems and the limit of the work, shared by every step of loading. @module */

import { createYield } from "../../waiting.ts";
import type { Node, Position } from "./nodes.ts";

export type { Position };

/** A problem of a Compose file. */
export interface LoadIssue extends Position {
  /** E.g. `services.web.ports[0]`; empty for the whole file. */
  path: string;
  /** Without the path, e.g. `must be a string`. */
  message: string;
}

/** E.g. `Line 3: services.web.imag is unknown`. */
export const issueText = ({ line, path, message }: LoadIssue): string =>
  `Line ${line}: ${path} ${message}`;

/** A string with variables that are not set; those that are have been replaced. */
export interface UnsetVariables {
  /** E.g. `services.web.environment.TAG`. */
  path: string;
  /** `fallback` is what stands for the variable without a value. */
  parts: (string | { name: string; fallback: string })[];
}

/** The image of a service with `build`, and the error if the engine does not have it. */
export interface UnbuiltImage extends LoadIssue {
  image: string;
}

/** Returns a variable's value; `undefined` if it is not set. */
export type Lookup = (name: string) => string | undefined;

/** Returns the text of a file of the project; `undefined` if there is none. */
export type ReadFile = (path: string) => string | undefined;

/** The state of loading one project. */
export interface Loading {
  errors: LoadIssue[];
  warnings: LoadIssue[];
  /** Images that are not built here, so that the engine must have them. */
  builds: UnbuiltImage[];
  /** Strings with variables that are not set. */
  unset: UnsetVariables[];
  /** Texts of secrets and configs by path, e.g. `secrets.key`; not of files on the host. */
  contents: Map<string, string>;
  /**
   * Maps and lists by path, which know the positions of what is in them; of entries that come from
   * `extends`, in the other file.
   */
  nodes: Map<string, Node[]>;
  /** Units of work that are left, see {@linkcode spend}. */
  budget: { left: number };
  /** To call between steps: a project of hundreds of services takes longer than others should wait. */
  pause(): Promise<void>;
  readFile: ReadFile;
  /** Absolute path of the project on the host; `null` if it has none. */
  directory: string | null;
  /** Whether a path that stays relative is an error. */
  refusesRelative: boolean;
  /** Directories of the host that may be mounted; `null` for all. */
  bindAllow: readonly string[] | null;
}

/** Context of the readers of one file. */
export interface Scope extends Loading {
  file: string | null;
  /** The directory of relative paths: absolute, or relative to the project's. */
  base: string;
  lookup: Lookup;
}

/** Maximum number of errors, and of warnings. */
const LOAD_ISSUES_MAX = 100;

/** Maximum length of a message, and of a path in it, in UTF-16 units. */
const MESSAGE_MAX = 500;
const PATH_MAX = 300;

/** Maximum length of a name or key, in UTF-16 units. */
export const NAME_MAX = 255;

export const LONG_NAME = `must have a name of at most ${NAME_MAX} characters`;

/** Maximum length of a string, in UTF-16 units: that of a variable or an argument on Linux. */
export const TEXT_MAX = 128 * 1024;

/** Characters of text that count as one unit of work. */
export const CHARACTERS_PER_UNIT = 64;

/**
 * The work that a project may cause, in nodes of YAML; a long string counts as several. Aliases,
 * variables, port ranges and `extends` multiply a short text.
 */
const BUDGET = 200_000;

/**
 * Units of a variable that is used, and of one in a file of variables: each takes about 4 µs, as long
 * as several nodes.
 */
export const VARIABLE_UNITS = 8;

/** Ends the loading; the reason is among the errors. */
export class LoadStopped extends Error {
  override readonly name = "LoadStopped";
}

export const newLoading = (
  readFile: ReadFile,
  { directory, refusesRelative = false, bindAllow = null }: {
    directory: string | null;
    refusesRelative?: boolean | undefined;
    bindAllow?: readonly string[] | null | undefined;
  },
): Loading => ({
  errors: [],
  warnings: [],
  builds: [],
  unset: [],
  contents: new Map(),
  nodes: new Map(),
  budget: { left: BUDGET },
  pause: createYield(),
  readFile,
  directory,
  refusesRelative,
  bindAllow,
});

/** Remembers the map or list at a path. A later file may have another one at the same path. */
export function remember({ nodes }: Loading, path: string, node: Node): void {
  const known = nodes.get(path);
  if (known) known.push(node);
  else nodes.set(path, [node]);
}

/** Position of a path: its own, or that of the closest parent that has one. */
function positionOf({ nodes }: Loading, path: string): Position {
  for (let inner = path; inner !== "";) {
    let parent = parentOf(inner);
    while (parent !== "" && !nodes.has(parent)) parent = parentOf(parent);
    for (const node of nodes.get(parent)?.toReversed() ?? []) {
      const position = positionIn(node, inner.slice(parent === "" ? 0 : parent.length));
      if (position) return position;
    }
    inner = parent;
  }
  return { file: null, line: 1, column: 1 };
}

/** @param path Behind that of the node; its end may not exist. */
function positionIn(node: Node, path: string): Position | undefined {
  for (let at = path; at !== ""; at = parentOf(at)) {
    const key = at.startsWith(".") ? at.slice(1) : at;
    if (node.kind === "map") {
      const position = node.entries.get(key)?.key;
      if (position) return position;
    } else if (node.kind === "list") {
      const index = /^\[(\d{1,7})\]$/.exec(at)?.[1];
      // A list may stand for a map: of names, or of `NAME=value`.
      const item = index === undefined
        ? node.items.find((each) =>
          each.kind === "scalar" && (each.text === key || each.text.startsWith(`${key}=`))
        )
        : node.items[Number(index)];
      if (item) return item.at;
    }
  }
}

const parentOf = (path: string) =>
  path.slice(0, Math.max(path.lastIndexOf("."), path.lastIndexOf("["), 0));

/**
 * Adds an error.
 *
 * @param where Its position; by default that of the path.
 * @throws {LoadStopped} At {@linkcode LOAD_ISSUES_MAX}.
 */
export function fail(
  loading: Loading,
  path: string,
  message: string,
  where: Position = positionOf(loading, path),
): undefined {
  loading.errors.push(issueAt(where, path, message));
  if (loading.errors.length >= LOAD_ISSUES_MAX) throw new LoadStopped();
}

/** Adds a warning; those above {@linkcode LOAD_ISSUES_MAX} are dropped. */
export function warn(
  loading: Loading,
  path: string,
  message: string,
  where: Position = positionOf(loading, path),
): void {
  if (loading.warnings.length >= LOAD_ISSUES_MAX) return;
  loading.warnings.push(issueAt(where, path, message));
}

/** Limit of the strings with variables that are not set, and of the text of each. */
const UNSET_MAX = 500;
const UNSET_TEXT_MAX = 4096;

/** Remembers a string with variables that are not set; those above the limits are dropped. */
export function noteUnset({ unset }: Loading, path: string, parts: UnsetVariables["parts"]): void {
  const length = parts.reduce(
    (sum, part) => sum + (typeof part === "string" ? part : part.fallback).length,
    0,
  );
  if (unset.length < UNSET_MAX && length <= UNSET_TEXT_MAX) unset.push({ path, parts });
}

/** Remembers the image of a service with `build`. */
export function noteBuild(loading: Loading, path: string, image: string): void {
  const message = `is not supported, and the engine does not have ${
    quote(image)
  }; build or pull it first`;
  loading.builds.push({ ...issueAt(positionOf(loading, path), path, message), image });
}

const issueAt = ({ file, line, column }: Position, path: string, message: string): LoadIssue => ({
  path: cut(path, PATH_MAX),
  file,
  line,
  column,
  message: cut(message, MESSAGE_MAX),
});

/** @throws {LoadStopped} If the project is too large. */
export function spend(loading: Loading, units: number, path: string, where?: Position): void {
  loading.budget.left -= units;
  if (loading.budget.left >= 0) return;
  fail(loading, path, "makes the project too large once everything is expanded", where);
  throw new LoadStopped();
}

const cut = (text: string, max: number) => text.length > max ? `${text.slice(0, max)}…` : text;

/** Limits names and values from outside in a message. */
export const quote = (text: string) => cut(text, 80);

/** The work that a string adds to its node. */
export const unitsOf = (text: string) => Math.floor(text.length / CHARACTERS_PER_UNIT);

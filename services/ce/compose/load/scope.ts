/**
 * What every step of loading shares: positions, problems and the limit of the work.
 *
 * @module
 */

import { createYield } from "../../../event_loop.ts";

/** Where something is written. */
export interface Position {
  /** Name of an included or extended file, or of an env file; `null` for the Compose text itself. */
  file: string | null;
  /** From 1. */
  line: number;
  /** From 1. */
  column: number;
}

/** A problem of a Compose file. */
export interface LoadIssue extends Position {
  /** E.g. `services.web.ports[0]`; empty for the whole file. */
  path: string;
  /** Without the path, e.g. `must be a string`. */
  message: string;
}

/** Returns a variable's value; `undefined` if it is not set. */
export type Lookup = (name: string) => string | undefined;

/** Returns the text of a file of the project; `undefined` if there is none. */
export type ReadFile = (path: string) => string | undefined;

/** The state of loading one project. */
export interface Loading {
  errors: LoadIssue[];
  warnings: LoadIssue[];
  /** Texts of secrets and configs by path, e.g. `secrets.key`; not of files on the host. */
  contents: Map<string, string>;
  /** Where each path is written; of entries that come from `extends`, in the other file. */
  positions: Map<string, Position>;
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

/** What the readers of one file know. */
export interface Scope extends Loading {
  file: string | null;
  /** The directory of relative paths: absolute, or relative to the project's. */
  base: string;
  lookup: Lookup;
}

/** Maximum number of errors, and of warnings. */
const LOAD_ISSUES_MAX = 100;

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
  contents: new Map(),
  positions: new Map(),
  budget: { left: BUDGET },
  pause: createYield(),
  readFile,
  directory,
  refusesRelative,
  bindAllow,
});

/** Where a path is written: its own position, or that of the closest parent that has one. */
function positionOf({ positions }: Loading, path: string): Position {
  for (let at = path; at !== ""; at = parentOf(at)) {
    const position = positions.get(at);
    if (position) return position;
  }
  return { file: null, line: 1, column: 1 };
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

const issueAt = ({ file, line, column }: Position, path: string, message: string): LoadIssue => ({
  path,
  file,
  line,
  column,
  message,
});

/** @throws {LoadStopped} If the project is too large. */
export function spend(loading: Loading, units: number, path: string, where?: Position): void {
  loading.budget.left -= units;
  if (loading.budget.left >= 0) return;
  fail(loading, path, "makes the project too large once everything is expanded", where);
  throw new LoadStopped();
}

/** Limits names and values from outside in a message. */
export const quote = (text: string) => text.length > 80 ? `${text.slice(0, 80)}…` : text;

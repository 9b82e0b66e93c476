/**
 * Stored sources of stacks: every change is a new version.
 *
 * @module
 */

import {
  countStackSources,
  deleteStackVersions,
  deleteStackVersionsUpTo,
  insertStackVersion,
  selectCurrentVersion,
  selectStackVersion,
  selectStackVersions,
  type StackVersion,
} from "../../../db/ce/stack_versions.ts";
import type { Caller } from "../../auth/caller.ts";
import { includesRole } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, InputError, notFound, tooMany } from "../../errors.ts";
import { REDACTED } from "../../redact.ts";
import { openOrConflict, type Secrets } from "../../secrets.ts";
import { listAll, type ReadDeps as ContainerDeps } from "../containers/reads.ts";
import { groupStacks, type StackKind } from "../stacks/groups.ts";
import { unifiedDiff } from "./diff.ts";
import type { LoadedProject } from "./load/load.ts";
import type { Project } from "./load/resolve.ts";
import type { LoadIssue } from "./load/scope.ts";
import { loadStack, type StackSources } from "./validate.ts";

/** Limit of stacks with stored sources. */
export const STACK_SOURCES_MAX = 500;

/** Number of versions that are kept of a stack. */
export const VERSIONS_KEPT = 50;

/** A version without its sources. */
export interface StackSummary {
  name: string;
  kind: StackKind;
  version: number;
  /** Id of the user. */
  updatedBy: string;
  /** ISO 8601, UTC. */
  updatedAt: string;
}

/** The sources of a version as the API returns them. */
export interface StackSourceView extends StackSummary {
  compose: string;
  env: string | Record<string, string>;
  files: Record<string, string>;
  profiles: string[];
}

export interface StackVersionView {
  version: number;
  /** Id of the user. */
  createdBy: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

type ReadDeps = Pick<Deps, "db" | "secrets">;
type WriteDeps = Pick<Deps, "config" | "db" | "secrets" | "now" | "log">;

/**
 * Stores the sources of a new stack.
 *
 * @throws {AppError} `invalid` for sources that cannot be deployed; `conflict` for a name that has
 * sources, and when the limit is reached.
 */
export async function createStackSource(
  deps: WriteDeps,
  caller: Caller,
  { name, kind, ...sources }: StackSources & { name: string; kind: StackKind },
): Promise<StackSummary> {
  const { db } = deps;
  await loadDeployable(deps, sources, name);
  if (selectCurrentVersion(db, name)) {
    throw new AppError("conflict", `Stack ${name} already has sources`);
  }
  if (countStackSources(db) >= STACK_SOURCES_MAX) throw tooMany("stacks", STACK_SOURCES_MAX);
  return insertVersion(deps, caller, { name, kind, version: 1, sources });
}

/**
 * The current sources.
 *
 * @throws {AppError} `not_found` for a stack without stored sources.
 */
export function getStackSource(deps: ReadDeps, caller: Caller, name: string): StackSourceView {
  return viewOf(deps.secrets, caller, findCurrent(deps, name));
}

/**
 * Stores new sources as the next version.
 *
 * @param expectedVersion The version that they are based on.
 * @throws {AppError} `not_found`; `invalid` for sources that cannot be deployed; `conflict` if
 * another version is the current one.
 */
export async function replaceStackSource(
  deps: WriteDeps,
  caller: Caller,
  name: string,
  { expectedVersion, ...sources }: StackSources & { expectedVersion: number },
): Promise<StackSummary> {
  findCurrent(deps, name);
  await loadDeployable(deps, sources, name);
  // No await from here on, so that of concurrent requests only one succeeds.
  const { version, kind } = findCurrent(deps, name);
  if (version !== expectedVersion) {
    throw new AppError(
      "conflict",
      `Version ${version} of ${name} was stored meanwhile; compare it with yours`,
    );
  }
  return insertVersion(deps, caller, { name, kind, version: version + 1, sources });
}

/** @throws {AppError} `not_found` for a stack without stored sources. */
export function listStackVersions({ db }: Pick<Deps, "db">, name: string): StackVersionView[] {
  const versions = selectStackVersions(db, name);
  if (versions.length === 0) throw withoutSources(name);
  return versions.map(({ version, createdBy, createdAt }) => ({ version, createdBy, createdAt }));
}

/** @throws {AppError} `not_found` */
export function getStackVersion(
  deps: ReadDeps,
  caller: Caller,
  name: string,
  version: number,
): StackSourceView {
  return viewOf(deps.secrets, caller, findVersion(deps, name, version));
}

/**
 * Compares two versions.
 *
 * @returns A unified diff of the Compose text, the variables and the files; empty if they are equal.
 * @throws {AppError} `not_found`
 */
export function diffStackVersions(
  deps: ReadDeps,
  caller: Caller,
  name: string,
  from: number,
  to: number,
): string {
  const texts = [from, to].map((version) =>
    textsOf(viewOf(deps.secrets, caller, findVersion(deps, name, version)))
  );
  const [before, after] = texts as [Record<string, string>, Record<string, string>];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.map((file) =>
    unifiedDiff(before[file] ?? "", after[file] ?? "", {
      from: `${file} (version ${from})`,
      to: `${file} (version ${to})`,
    })
  ).join("");
}

/**
 * Removes the sources of a stack with all versions.
 *
 * @throws {AppError} `not_found` for a stack without stored sources; `conflict` while it has
 * containers.
 */
export async function removeStackSource(
  deps: ContainerDeps & Pick<Deps, "db" | "log">,
  name: string,
): Promise<void> {
  const { db, log } = deps;
  if (!selectCurrentVersion(db, name)) throw withoutSources(name);
  const stacks = groupStacks(await listAll(deps), undefined);
  if (stacks.some((stack) => stack.name === name)) {
    throw new AppError("conflict", `Stack ${name} has containers; remove them first`);
  }
  if (!deleteStackVersions(db, name)) throw withoutSources(name);
  log.info("stack sources removed", { stack: name });
}

/**
 * Opens the sources of a version, by default the current one.
 *
 * @throws {AppError} `not_found` for a stack or version without stored sources.
 */
export function openStackSource(
  deps: ReadDeps,
  name: string,
  version?: number,
): { kind: StackKind; version: number; sources: StackSources } {
  const found = version === undefined ? findCurrent(deps, name) : findVersion(deps, name, version);
  return {
    kind: found.kind,
    version: found.version,
    sources: openSource(deps.secrets, found),
  };
}

/** Loads sources that can be deployed. @throws {InputError} If there are errors. */
export async function loadDeployable(
  { config: { bindAllow } }: Pick<Deps, "config">,
  sources: StackSources,
  name: string,
): Promise<LoadedProject & { project: Project }> {
  const loaded = await loadStack(sources, { name, refusesRelative: true, bindAllow });
  const { errors, project } = loaded;
  if (!project) throw new InputError(errors.map(toInputIssue));
  return { ...loaded, project };
}

const toInputIssue = ({ file, line, column, path, message }: LoadIssue) => ({
  path: file === null ? "body.compose" : `body.files.${file}`,
  message: `${line}:${column} ${path === "" ? "" : `${path} `}${message}`,
});

function insertVersion(
  { db, secrets, now, log }: WriteDeps,
  caller: Caller,
  { name, kind, version, sources }: {
    name: string;
    kind: StackKind;
    version: number;
    sources: StackSources;
  },
): StackSummary {
  const stored: StackVersion = {
    stack: name,
    version,
    kind,
    sealedSource: secrets.seal(JSON.stringify(sources), purposeOf(name, version)),
    createdBy: caller.userId,
    createdAt: now().toISOString(),
  };
  db.transaction(() => {
    insertStackVersion(db, stored);
    deleteStackVersionsUpTo(db, name, version - VERSIONS_KEPT);
  });
  log.info("stack sources stored", { stack: name, version });
  return summaryOf(stored);
}

const purposeOf = (stack: string, version: number) => `stack ${stack} version ${version}`;

function findCurrent({ db }: Pick<Deps, "db">, name: string): StackVersion {
  const found = selectCurrentVersion(db, name);
  if (!found) throw withoutSources(name);
  return found;
}

function findVersion({ db }: Pick<Deps, "db">, name: string, version: number): StackVersion {
  const found = selectStackVersion(db, name, version);
  if (!found) throw notFound("Version", `${version} of ${name}`);
  return found;
}

const withoutSources = (name: string) =>
  new AppError("not_found", `Stack ${name} does not exist, or has no stored sources`);

const openSource = (secrets: Secrets, { stack, version, sealedSource }: StackVersion) =>
  openOrConflict(
    () => JSON.parse(secrets.open(sealedSource, purposeOf(stack, version))) as StackSources,
    "delete the stack's sources and store them again",
  );

/** Values of variables and files may be secrets, which only admins see. */
function viewOf(secrets: Secrets, caller: Caller, stored: StackVersion): StackSourceView {
  const { compose, env = "", files = {}, profiles = [] } = openSource(secrets, stored);
  const isAdmin = includesRole(caller.role, "admin");
  return {
    ...summaryOf(stored),
    compose,
    env: isAdmin ? env : typeof env === "string" ? redactLines(env) : redactValues(env),
    files: isAdmin ? files : redactValues(files),
    profiles,
  };
}

const summaryOf = (
  { stack, kind, version, createdBy, createdAt }: StackVersion,
): StackSummary => ({ name: stack, kind, version, updatedBy: createdBy, updatedAt: createdAt });

const redactValues = (values: Record<string, string>) =>
  Object.fromEntries(Object.keys(values).map((name) => [name, REDACTED]));

/** Keeps names only: a value may have several lines. */
const redactLines = (env: string) =>
  [...env.matchAll(/^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)[ \t]*[=:]/gm)]
    .map(([, name]) => `${name}=${REDACTED}\n`).join("");

/** All texts by the names that a diff shows. */
function textsOf({ compose, env, files, profiles }: StackSourceView): Record<string, string> {
  const lines = typeof env === "string"
    ? env
    : Object.entries(env).map(([name, value]) => `${name}=${value}\n`).join("");
  return {
    "compose.yaml": compose,
    ".env": lines,
    profiles: profiles.map((profile) => `${profile}\n`).join(""),
    ...files,
  };
}

/** Stored versions of the sources of stacks. @module */

import { deleteGitStack } from "../../db/git_stacks.ts";
import {
  deleteStackVersions,
  deleteStackVersionsUpTo,
  insertStackVersion,
  selectCurrentVersion,
  selectStackVersion,
  selectStackVersions,
  type StackVersion,
  type VersionCommit,
} from "../../db/stack_versions.ts";
import { type Caller, mayDo } from "../access/caller.ts";
import { isLimited } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { AppError, ChangedMeanwhileError, notFound } from "../errors.ts";
import { openOrConflict } from "../secrets/secrets.ts";
import type { StackKind } from "../stacks/groups.ts";
import { diffViews, type OpenedVersion, type StackSourceView, viewVersion } from "./source_view.ts";
import type { StoredSources } from "./validate.ts";

/** Number of versions that are kept of a stack. */
export const VERSIONS_KEPT = 50;

export interface StackVersionView {
  version: number;
  /** Id of the user. */
  createdBy: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  /** The commit that it was made of. */
  commit: VersionCommit | null;
}

type ReadDeps = Pick<Deps, "db" | "secrets">;

/** @throws {AppError} `not_found` for a stack without stored sources. */
export function listStackVersions({ db }: Pick<Deps, "db">, name: string): StackVersionView[] {
  const versions = selectStackVersions(db, name);
  if (versions.length === 0) throw withoutSources(name);
  return versions.map(({ version, createdBy, createdAt, gitCommit: commit }) => ({
    version,
    createdBy,
    createdAt,
    commit,
  }));
}

/** @throws {AppError} `not_found` */
export function getStackVersion(
  deps: ReadDeps,
  caller: Caller,
  name: string,
  version: number,
): StackSourceView {
  return viewVersion(caller, openVersion(deps, findVersion(deps, name, version)));
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
  const viewOf = (version: number) =>
    viewVersion(caller, openVersion(deps, findVersion(deps, name, version)));
  return diffViews(viewOf(from), viewOf(to));
}

/** @throws {ChangedMeanwhileError} If another version is the current one. */
export function assertCurrent(
  deps: ReadDeps,
  caller: Caller,
  name: string,
  expectedVersion: number,
): StackVersion {
  const current = findCurrent(deps, name);
  const { version } = current;
  if (version === expectedVersion) return current;
  // A token that is limited to stacks does not read sources, nor does one without this permission.
  const isShown = !isLimited(caller.scope) && mayDo(caller, "operator", "stack_sources:read") &&
    selectStackVersion(deps.db, name, expectedVersion) !== undefined;
  throw new ChangedMeanwhileError(
    `Version ${version} of ${name} was stored meanwhile; compare it with yours`,
    isShown ? diffStackVersions(deps, caller, name, expectedVersion, version) : "",
  );
}

/**
 * Stores a version, and removes those beyond the limit.
 *
 * @param version.also Written in the same transaction.
 */
export function insertVersion(
  { db, secrets, now, log }: Pick<Deps, "db" | "secrets" | "now" | "log">,
  createdBy: string,
  { name, kind, version, sources, commit = null, also = () => {} }: {
    name: string;
    kind: StackKind;
    version: number;
    sources: StoredSources;
    commit?: VersionCommit | null;
    also?: () => void;
  },
): StackVersion {
  const stored: StackVersion = {
    stack: name,
    version,
    kind,
    sealedSource: secrets.seal(JSON.stringify(sources), purposeOf(name, version)),
    createdBy,
    createdAt: now().toISOString(),
    gitCommit: commit,
  };
  db.transaction(() => {
    insertStackVersion(db, stored);
    deleteStackVersionsUpTo(db, name, version - VERSIONS_KEPT);
    also();
  });
  log.info("stack sources stored", { stack: name, version, createdBy });
  return stored;
}

/**
 * Removes all versions of a stack. It follows no repository any more, so that no commit brings it back.
 *
 * @returns Whether there were any.
 */
export const removeVersions = ({ db }: Pick<Deps, "db">, name: string): boolean =>
  db.transaction(() => {
    deleteGitStack(db, name);
    return deleteStackVersions(db, name);
  });

const purposeOf = (stack: string, version: number) => `stack ${stack} version ${version}`;

/** @throws {AppError} `not_found` for a stack without stored sources. */
export function findCurrent({ db }: Pick<Deps, "db">, name: string): StackVersion {
  const found = selectCurrentVersion(db, name);
  if (!found) throw withoutSources(name);
  return found;
}

/** @throws {AppError} `not_found` */
export function findVersion({ db }: Pick<Deps, "db">, name: string, version: number): StackVersion {
  const found = selectStackVersion(db, name, version);
  if (!found) throw notFound("Version", `${version} of ${name}`);
  return found;
}

export const withoutSources = (name: string) =>
  new AppError("not_found", `Stack ${name} does not exist, or has no stored sources`);

/** @throws {AppError} `conflict` if the sources cannot be decrypted. */
export function openVersion(
  { secrets }: Pick<Deps, "secrets">,
  stored: StackVersion,
): OpenedVersion {
  const { stack, version, sealedSource } = stored;
  const sources = openOrConflict(
    () => JSON.parse(secrets.open(sealedSource, purposeOf(stack, version))) as StoredSources,
    "delete the stack's sources and store them again",
  );
  return { stored, sources };
}

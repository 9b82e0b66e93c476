/**
 * Sources of stacks: every change is a new version. The files of a stack on disk are the truth; an
 * edit there becomes a version when it is read.
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
} from "../../db/stack_versions.ts";
import { type Caller, includesRole } from "../access/caller.ts";
import { isLimited } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { AppError, ChangedMeanwhileError, InputError, notFound, tooMany } from "../errors.ts";
import { openOrConflict } from "../secrets/secrets.ts";
import { listAll, type ReadDeps as ContainerDeps } from "../containers/reads.ts";
import { groupStacks, type StackKind } from "../stacks/groups.ts";
import type { LoadedProject } from "./load/load.ts";
import type { Project } from "./load/resolve.ts";
import type { LoadIssue } from "./load/scope.ts";
import {
  assertNotOverwritten,
  findPlace,
  readSources,
  refreshPlace,
  textsOf,
} from "./disk_sources.ts";
import { type FileDeps, type HostFiles, withHostFiles } from "./project_files.ts";
import { restoreSources } from "./redacted_sources.ts";
import {
  diffViews,
  type OpenedVersion,
  type StackSourceView,
  type StackSummary,
  summarizeVersion,
  viewVersion,
} from "./source_view.ts";
import { type LoaderDeps, loadStack, type StackSources, type StoredSources } from "./validate.ts";

/** Limit of stacks with stored sources. */
export const STACK_SOURCES_MAX = 500;

/** Number of versions that are kept of a stack. */
export const VERSIONS_KEPT = 50;

/** Who changed a stack on disk, instead of the id of a user. */
const ON_DISK = "disk";

export interface StackVersionView {
  version: number;
  /** Id of the user. */
  createdBy: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

type ReadDeps = Pick<Deps, "db" | "secrets">;
type WriteDeps = FileDeps & ReadDeps;

/** The sources of a new stack. */
export interface NewSources extends Omit<StackSources, "compose"> {
  name: string;
  kind: StackKind;
  /** May be left out with a directory that has Compose files. */
  compose?: string | undefined;
  /** Of a stack on disk: absolute path on the host. */
  directory?: string | undefined;
}

/**
 * Stores the sources of a new stack, on disk if they have a directory.
 *
 * @throws {AppError} `invalid` for sources that cannot be deployed; `conflict` for a name that has
 * sources, for files that would be overwritten, and when the limit is reached.
 */
export async function createStackSource(
  deps: WriteDeps,
  caller: Caller,
  { name, kind, directory, compose, ...given }: NewSources,
): Promise<StackSummary> {
  const rest = restoreSources(given, undefined);
  if (directory === undefined) {
    if (compose === undefined) throw required("body.compose");
    return await storeNewStack(deps, caller, { name, kind, sources: { compose, ...rest } });
  }
  const { profiles } = rest;
  const access = compose === undefined ? "read" : "write";
  return await withHostFiles(deps, directory, access, async (files) => {
    const place = await findPlace(files, directory, textOf(rest.env));
    if (compose === undefined) {
      const sources = await readSources(deps, files, place, { profiles });
      return await storeNewStack(deps, caller, { name, kind, sources });
    }
    assertNew(deps, name);
    const given = textsOf(place, { compose, ...rest });
    await assertNotOverwritten(files, given);
    await loadDeployable(deps, await readSources(deps, files, place, { profiles, given }), name);
    await files.write(given, place.configFiles[0]!);
    const sources = await readSources(deps, files, place, { profiles });
    return await storeNewStack(deps, caller, { name, kind, sources });
  });
}

/** The text of `.env`, if it is given as a text. */
export const textOf = (env: StackSources["env"]) => typeof env === "string" ? env : undefined;

const required = (path: string) => new InputError([{ path, message: "is required" }]);

/**
 * Stores the first version of a stack.
 *
 * @throws {AppError} As `createStackSource()`.
 */
export async function storeNewStack(
  deps: LoaderDeps & Pick<Deps, "config" | "db" | "secrets" | "now" | "log">,
  caller: Pick<Caller, "userId">,
  { name, kind, sources }: { name: string; kind: StackKind; sources: StoredSources },
): Promise<StackSummary> {
  await loadDeployable(deps, sources, name);
  assertNew(deps, name);
  return summarizeVersion(insertVersion(deps, caller.userId, { name, kind, version: 1, sources }));
}

function assertNew({ db }: Pick<Deps, "db">, name: string): void {
  if (selectCurrentVersion(db, name)) {
    throw new AppError("conflict", `Stack ${name} already has sources`);
  }
  if (countStackSources(db) >= STACK_SOURCES_MAX) throw tooMany("stacks", STACK_SOURCES_MAX);
}

/**
 * The current sources; of a stack on disk those of the directory.
 *
 * @throws {AppError} `not_found` for a stack without sources; `conflict` for files that cannot be
 * read.
 */
export async function getStackSource(
  deps: WriteDeps,
  caller: Caller,
  name: string,
): Promise<StackSourceView> {
  return viewVersion(caller, await openCurrent(deps, name));
}

/**
 * Opens the current sources. An edit on disk becomes the current version.
 *
 * @throws {AppError} As `getStackSource()`.
 */
async function openCurrent(deps: WriteDeps, name: string): Promise<OpenedVersion> {
  const current = open(deps, findCurrent(deps, name));
  const { place } = current.sources;
  if (!place) return current;
  return await withHostFiles(
    deps,
    place.directory,
    "read",
    (files) => recordEdit(deps, files, name),
  );
}

/** Stores what is on disk as the next version if it differs from the current one. */
async function recordEdit(deps: WriteDeps, files: HostFiles, name: string): Promise<OpenedVersion> {
  const { stored, sources } = open(deps, findCurrent(deps, name));
  const place = await refreshPlace(files, sources.place!);
  const found = await readSources(deps, files, place, { profiles: sources.profiles });
  if (isSame(found, sources)) return { stored, sources };
  // A request may have removed the stack meanwhile.
  const { kind, version } = findCurrent(deps, name);
  const next = { name, kind, version: version + 1, sources: found };
  return { stored: insertVersion(deps, ON_DISK, next), sources: found };
}

const isSame = (one: StoredSources, other: StoredSources) => {
  const [first, second] = [one, other].map((sources) => {
    const { compose, env = null, files = {}, outside = {}, place } = sources;
    const texts = [files, outside].map((named) => Object.entries(named).sort());
    return JSON.stringify([compose, env, ...texts, place?.configFiles]);
  });
  return first === second;
};

/**
 * Stores new sources as the next version. On disk, files that are not given stay as they are.
 * Redacted values keep the stored ones.
 *
 * @param expectedVersion The version that they are based on.
 * @throws {AppError} `not_found`; `invalid` for sources that cannot be deployed; `conflict` with a
 * diff if another version is the current one, also because of an edit on disk.
 */
export async function replaceStackSource(
  deps: WriteDeps,
  caller: Caller,
  name: string,
  { expectedVersion, ...sent }: StackSources & { expectedVersion: number },
): Promise<StackSummary> {
  const { place, ...stored } = open(deps, findCurrent(deps, name)).sources;
  if (!place) {
    assertCurrent(deps, caller, name, expectedVersion);
    const given = restoreSources(sent, stored);
    await loadDeployable(deps, given, name);
    // No await from here on, so that of concurrent requests only one succeeds.
    const { kind } = assertCurrent(deps, caller, name, expectedVersion);
    const next = { name, kind, version: expectedVersion + 1, sources: given };
    return summarizeVersion(insertVersion(deps, caller.userId, next));
  }
  return await withHostFiles(deps, place.directory, "write", async (files) => {
    const { sources: found } = await recordEdit(deps, files, name);
    assertCurrent(deps, caller, name, expectedVersion);
    const given = restoreSources(sent, found);
    const { profiles } = given;
    const place = await refreshPlace(files, found.place!, textOf(given.env));
    const texts = textsOf(place, given);
    const next = await readSources(deps, files, place, { profiles, given: texts });
    await loadDeployable(deps, next, name);
    await files.write(texts, found.place!.configFiles[0]!);
    const sources = await readSources(deps, files, place, { profiles });
    const { kind } = assertCurrent(deps, caller, name, expectedVersion);
    const version = expectedVersion + 1;
    return summarizeVersion(insertVersion(deps, caller.userId, { name, kind, version, sources }));
  });
}

/**
 * Checks that the sources have not changed since a version, also not on disk.
 *
 * @throws {AppError} `not_found`; `conflict` with a diff if another version is the current one.
 */
export async function assertUnchanged(
  deps: WriteDeps,
  caller: Caller,
  name: string,
  expectedVersion: number,
): Promise<void> {
  await openCurrent(deps, name);
  assertCurrent(deps, caller, name, expectedVersion);
}

/** @throws {ChangedMeanwhileError} If another version is the current one. */
function assertCurrent(
  deps: ReadDeps,
  caller: Caller,
  name: string,
  expectedVersion: number,
): StackVersion {
  const current = findCurrent(deps, name);
  const { version } = current;
  if (version === expectedVersion) return current;
  // A token that is limited to stacks does not read sources.
  const isShown = !isLimited(caller.scope) &&
    selectStackVersion(deps.db, name, expectedVersion) !== undefined;
  throw new ChangedMeanwhileError(
    `Version ${version} of ${name} was stored meanwhile; compare it with yours`,
    isShown ? diffStackVersions(deps, caller, name, expectedVersion, version) : "",
  );
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
  return viewVersion(caller, open(deps, findVersion(deps, name, version)));
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
    viewVersion(caller, open(deps, findVersion(deps, name, version)));
  return diffViews(viewOf(from), viewOf(to));
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
 * Opens the sources of a version; by default the current one, which on disk is what is there.
 *
 * @throws {AppError} `not_found` for a stack or version without stored sources; `conflict` for files
 * that cannot be read.
 */
export async function openStackSource(
  deps: WriteDeps,
  name: string,
  version?: number,
): Promise<{ kind: StackKind; version: number; sources: StoredSources }> {
  const { stored, sources } = version === undefined
    ? await openCurrent(deps, name)
    : open(deps, findVersion(deps, name, version));
  return { kind: stored.kind, version: stored.version, sources };
}

/**
 * The given sources as they would be stored: those of a stack on disk are completed with the files
 * of its directory.
 *
 * @throws {AppError} `conflict` for files that cannot be read; `forbidden` for a caller who may not
 * see values, because the text decides which variables and files of the host are shown.
 */
export async function completeSources(
  deps: WriteDeps,
  caller: Pick<Caller, "role">,
  name: string,
  given: StackSources,
): Promise<StoredSources> {
  const stored = selectCurrentVersion(deps.db, name);
  const place = stored && open(deps, stored).sources.place;
  if (!place) return given;
  assertMayReadFiles(caller);
  return await withHostFiles(deps, place.directory, "read", async (files) => {
    const found = await refreshPlace(files, place, textOf(given.env));
    const texts = textsOf(found, given);
    return await readSources(deps, files, found, { profiles: given.profiles, given: texts });
  });
}

function assertMayReadFiles({ role }: Pick<Caller, "role">): void {
  if (includesRole(role, "admin")) return;
  throw new AppError(
    "forbidden",
    "Plans of other sources of a stack on disk need the role admin",
  );
}

/**
 * The sources in the files of a directory, for a plan.
 *
 * @throws {AppError} `invalid` without a directory; `forbidden` as `completeSources()`; `conflict` for
 * files that cannot be read.
 */
export async function readDirectory(
  deps: WriteDeps,
  caller: Pick<Caller, "role">,
  directory: string | undefined,
  profiles: string[] | undefined,
): Promise<StoredSources> {
  if (directory === undefined) throw required("body.sources.compose");
  assertMayReadFiles(caller);
  return await withHostFiles(
    deps,
    directory,
    "read",
    async (files) =>
      await readSources(deps, files, await findPlace(files, directory), { profiles }),
  );
}

/**
 * Loads sources that can be deployed.
 *
 * @throws {InputError} If there are errors.
 * @throws {AppError} As `ComposeLoader.load()`.
 */
export async function loadDeployable(
  deps: LoaderDeps & Pick<Deps, "config">,
  sources: StoredSources,
  name: string,
): Promise<LoadedProject & { project: Project }> {
  const { bindAllow } = deps.config;
  const loaded = await loadStack(deps, sources, { name, refusesRelative: true, bindAllow });
  const { errors, project } = loaded;
  if (!project) throw new InputError(errors.map(toInputIssue));
  return { ...loaded, project };
}

/** The error of a request with sources, from a problem of the sources. */
export const toInputIssue = ({ file, line, column, path, message }: LoadIssue) => ({
  path: file === null ? "body.compose" : `body.files.${file}`,
  message: `${line}:${column} ${path === "" ? "" : `${path} `}${message}`,
});

function insertVersion(
  { db, secrets, now, log }: Pick<Deps, "db" | "secrets" | "now" | "log">,
  createdBy: string,
  { name, kind, version, sources }: {
    name: string;
    kind: StackKind;
    version: number;
    sources: StoredSources;
  },
): StackVersion {
  const stored: StackVersion = {
    stack: name,
    version,
    kind,
    sealedSource: secrets.seal(JSON.stringify(sources), purposeOf(name, version)),
    createdBy,
    createdAt: now().toISOString(),
  };
  db.transaction(() => {
    insertStackVersion(db, stored);
    deleteStackVersionsUpTo(db, name, version - VERSIONS_KEPT);
  });
  log.info("stack sources stored", { stack: name, version, createdBy });
  return stored;
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

function open({ secrets }: Pick<Deps, "secrets">, stored: StackVersion): OpenedVersion {
  const { stack, version, sealedSource } = stored;
  const sources = openOrConflict(
    () => JSON.parse(secrets.open(sealedSource, purposeOf(stack, version))) as StoredSources,
    "delete the stack's sources and store them again",
  );
  return { stored, sources };
}

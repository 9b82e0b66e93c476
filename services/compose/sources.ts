/**
 * Sources of stacks: every change is a new version. The files of a stack on disk are the truth; an
 * edit there becomes a version when it is read.
 *
 * @module
 */

import { countStackSources, selectCurrentVersion } from "../../db/stack_versions.ts";
import type { Caller } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { AppError, tooMany } from "../errors.ts";
import { listAll, type ReadDeps as ContainerDeps } from "../containers/reads.ts";
import { groupStacks, type StackKind } from "../stacks/groups.ts";
import {
  assertNotOverwritten,
  findPlace,
  readSources,
  refreshPlace,
  textsOf,
} from "./disk_sources.ts";
import { loadDeployable, required, textOf } from "./given_sources.ts";
import { type FileDeps, type HostFiles, withHostFiles } from "./project_files.ts";
import { restoreSources } from "./redacted_sources.ts";
import {
  type OpenedVersion,
  type StackSourceView,
  type StackSummary,
  summarizeVersion,
  viewVersion,
} from "./source_view.ts";
import { keptSources, type LoaderDeps, type StackSources, type StoredSources } from "./validate.ts";
import {
  assertCurrent,
  findCurrent,
  insertVersion,
  openVersion,
  removeVersions,
  withoutSources,
} from "./versions.ts";

/** Limit of stacks with stored sources. */
export const STACK_SOURCES_MAX = 500;

/** Author of a change on disk, instead of the id of a user. */
const ON_DISK = "disk";

type WriteDeps = FileDeps & Pick<Deps, "db" | "secrets">;

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
  assertRoomForStack({ db });
}

/** @throws {AppError} `conflict` when the limit of stacks with sources is reached. */
export function assertRoomForStack({ db }: Pick<Deps, "db">): void {
  if (countStackSources(db) >= STACK_SOURCES_MAX) throw tooMany("stacks", STACK_SOURCES_MAX);
}

/**
 * The current sources; of a stack on disk those of the directory, whose edit is recorded.
 *
 * @throws {AppError} `not_found` for a stack without sources; `conflict` for files that cannot be
 * read.
 */
export async function recordStackSource(
  deps: WriteDeps,
  caller: Caller,
  name: string,
): Promise<StackSourceView> {
  return viewVersion(caller, await recordCurrent(deps, name));
}

/**
 * Records an edit on disk as the next version, and opens the current one.
 *
 * @throws {AppError} As `recordStackSource()`.
 */
export async function recordCurrent(deps: WriteDeps, name: string): Promise<OpenedVersion> {
  const current = openVersion(deps, findCurrent(deps, name));
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
  const { stored, sources } = openVersion(deps, findCurrent(deps, name));
  const place = await refreshPlace(files, sources.place!);
  const { profiles, recovered } = sources;
  const kept = keptSources(sources);
  const found = { ...await readSources(deps, files, place, { profiles, recovered }), ...kept };
  if (isSame(found, sources)) return { stored, sources };
  // A request may have removed the stack meanwhile.
  const { kind, version } = findCurrent(deps, name);
  const next = { name, kind, version: version + 1, sources: found };
  return { stored: insertVersion(deps, ON_DISK, next), sources: found };
}

/** Whether two sources have the same texts. */
export const isSame = (one: StoredSources, other: StoredSources) => {
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
  const { place, ...stored } = openVersion(deps, findCurrent(deps, name)).sources;
  if (!place) {
    assertCurrent(deps, caller, name, expectedVersion);
    const given = { ...restoreSources(sent, stored), ...keptSources(stored) };
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
    const kept = keptSources(found);
    const { recovered } = kept;
    const place = await refreshPlace(files, found.place!, textOf(given.env));
    const texts = textsOf(place, given);
    const next = await readSources(deps, files, place, { profiles, recovered, given: texts });
    await loadDeployable(deps, next, name);
    await files.write(texts, found.place!.configFiles[0]!);
    const sources = {
      ...await readSources(deps, files, place, { profiles, recovered }),
      ...kept,
    };
    const { kind } = assertCurrent(deps, caller, name, expectedVersion);
    const version = expectedVersion + 1;
    return summarizeVersion(insertVersion(deps, caller.userId, { name, kind, version, sources }));
  });
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
  if (!removeVersions(deps, name)) throw withoutSources(name);
  log.info("stack sources removed", { stack: name });
}

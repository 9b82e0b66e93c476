/** Plans the restore of a whole stack: what is created, what is replaced, and what stands in the way. @module */

import { volumeList } from "../../../engine/volumes.ts";
import { selectCurrentVersion } from "../../../db/stack_versions.ts";
import type { OpenedTarget } from "../../backup/targets/open.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import type { Snapshot } from "../../backup/restic/snapshot.ts";
import { findHostPath, hasContent, type HostPath } from "../../backup/volumes/host_path.ts";
import { containersUsing } from "../../backup/volumes/users.ts";
import { containersOf } from "../../compose/deploy/services.ts";
import type { LoadedProject } from "../../compose/load/load.ts";
import type { Project } from "../../compose/load/resolve.ts";
import { issueText } from "../../compose/load/scope.ts";
import type { PlannedChange } from "../../compose/plan/change.ts";
import { observe } from "../../compose/plan/observe.ts";
import { planProject } from "../../compose/plan/plan.ts";
import { numberOf, serviceOf } from "../../compose/plan/replicas.ts";
import { directoryFor, moveSources } from "../../compose/restored_sources.ts";
import { loadStack, type StoredSources } from "../../compose/validate.ts";
import type { Container } from "../../containers/inventory.ts";
import { currentContainers } from "../../containers/reads.ts";
import { hideValues } from "../../containers/secret_values.ts";
import type { Deps } from "../../deps.ts";
import { AppError, InputError, notFound } from "../../errors.ts";
import { readDescription, sourcesOf, stackIn } from "../read_description.ts";
import { partsOf, type PlannedParts, type PlannedPath } from "./job.ts";
import { partWarnings } from "./parts.ts";
import {
  type Existing,
  mapDirectories,
  mapVolumes,
  missingDirectories,
  type Restored,
} from "./mapping.ts";
import { usersOfStack } from "./users.ts";

export interface StackRequest {
  to: "new" | "replace";
  /** Name of a new stack; default: the one that it had. */
  as?: string | undefined;
}

/** A stack of a snapshot under its new name. */
export interface RestoredStack extends Restored {
  name: string;
  sources: StoredSources;
  loaded: LoadedProject & { project: Project };
}

export interface StackRestorePlan extends PlannedParts {
  restored: RestoredStack;
  /** Outermost paths of the host that are created. */
  created: string[];
  /** Changes of networks and services. */
  changes: PlannedChange[];
  /** Containers that stop meanwhile if they run. */
  users: Container[];
  warnings: string[];
}

/** Longest look at directories, in milliseconds. */
const LOOK_MS = 60_000;

/**
 * Plans a restore. Changes nothing.
 *
 * @throws {AppError} `conflict` for a snapshot without a stack, and with what stands in the way: names and
 * directories in use, and what the engine or the settings of this host do not allow; `not_found` if a stack
 * that does not exist is replaced.
 */
export async function planStackRestore(
  deps: Deps,
  opened: OpenedTarget & { snapshot: Snapshot },
  request: StackRequest,
): Promise<StackRestorePlan> {
  const { repository, snapshot } = opened;
  const stack = stackIn(snapshot);
  if (stack === undefined) throw new AppError("conflict", "The snapshot is not one of a stack");
  if (request.to === "replace" && request.as !== undefined) {
    throw new InputError([{ path: "body.as", message: "is for new stacks only" }]);
  }
  const signal = AbortSignal.timeout(LOOK_MS);
  const name = request.as ?? stack;
  const own = (await currentContainers(deps)).filter(({ composeProject }) =>
    composeProject === name
  );
  const isStored = selectCurrentVersion(deps.db, name) !== undefined;
  const isThere = own.length > 0 || isStored;
  assertName(name, request.to, isThere);
  const source = { repository, snapshot: snapshot.id, stack };
  const restored = await openRestored(deps, source, name, signal);
  const { unused, ...volumes } = mapVolumes(restored, await existingOf(deps, name));
  const mapped = mapDirectories(restored, snapshot.paths);
  const located = await locate(deps, restored, mapped.directories, {
    signal,
    to: request.to,
  });
  if (!isStored) assertNotOnDisk(restored, located);
  const parts: PlannedParts = {
    ...volumes,
    directories: located.directories,
    networks: externalNetworks(restored),
  };
  if (request.to === "new") await assertFree(deps, parts, located);
  const { changes, warnings } = await planDeploy(deps, restored, parts, request);
  const users = request.to === "new" ? [] : await usersOfStack(deps, name, parts);
  return {
    ...parts,
    restored,
    created: located.created,
    changes,
    users,
    warnings: [
      ...[...unused, ...mapped.unused].map((each) =>
        `${each} is not restored: the sources do not use it`
      ),
      ...missingDirectories(restored.after, parts.directories).map((each) =>
        `${each} is mounted, and its files are not in the snapshot`
      ),
      ...partWarnings(deps, parts, restored.description, restored.after),
      ...warnings,
    ],
  };
}

/**
 * Reads and loads a stack of a snapshot.
 *
 * @throws {AppError} `conflict` for sources that this host does not accept.
 */
export async function openRestored(
  deps: Deps,
  { repository, snapshot: id, stack }: { repository: Repository; snapshot: string; stack: string },
  name: string,
  signal: AbortSignal,
): Promise<RestoredStack> {
  const description = await readDescription(repository, { id, stack }, signal);
  const original = sourcesOf(description);
  const from = original.place?.directory;
  const moves = from === undefined
    ? null
    : { from, to: name === stack ? from : directoryFor(from, name) };
  const sources = moves ? moveSources(original, moves.to) : original;
  const loaded = await load(deps, sources, name);
  const before = name === stack ? loaded.project : (await load(deps, original, stack)).project;
  return { name, description, sources, before, after: loaded.project, loaded, moves };
}

async function load(deps: Deps, sources: StoredSources, name: string) {
  const { bindAllow } = deps.config;
  const loaded = await loadStack(deps, sources, { name, refusesRelative: true, bindAllow });
  const { errors: [error], project, values } = loaded;
  if (project) return { ...loaded, project };
  const message = `The sources of ${name} cannot be deployed on this host: ${issueText(error!)}`;
  throw new AppError("conflict", hideValues(message, values));
}

/** A name from a snapshot may be any text. */
const STACK_NAME = /^[a-z0-9][a-z0-9_-]{0,99}$/;

function assertName(name: string, to: StackRequest["to"], isThere: boolean): void {
  if (!STACK_NAME.test(name)) {
    throw new AppError("conflict", "The snapshot's stack has no usable name; choose one (as)");
  }
  if (to === "replace") {
    if (!isThere) throw notFound("Stack", name);
  } else if (isThere) {
    throw new AppError(
      "conflict",
      `Stack ${name} already exists; choose another name (as), or replace it`,
    );
  }
}

async function existingOf({ engine }: Pick<Deps, "engine">, name: string): Promise<Existing> {
  const containers = await containersOf({ engine }, { project: { name } });
  return {
    volumes: new Set((await volumeList(engine)).map(({ Name }) => Name)),
    findAnonymous: ({ service, number, path }) =>
      containers.filter((each) => serviceOf(each) === service && numberOf(each) === number)
        .flatMap(({ Mounts }) => Mounts ?? [])
        .find(({ Type, Destination }) => Type === "volume" && Destination === path)?.Name,
    newName: () =>
      [...crypto.getRandomValues(new Uint8Array(32))]
        .map((byte) => byte.toString(16).padStart(2, "0")).join(""),
  };
}

interface Located {
  directories: PlannedPath[];
  created: string[];
  /** Paths that stay. */
  filled: string[];
}

async function locate(
  deps: Deps,
  { moves }: Restored,
  directories: readonly Omit<PlannedPath, "isNew">[],
  { signal, to }: { signal: AbortSignal; to: StackRequest["to"] },
): Promise<Located> {
  const located: Located = { directories: [], created: [], filled: [] };
  const look = async (path: string) => {
    const found = await findHostPath(deps, path, signal);
    const isThere = found.existing === found.names.length;
    // An empty one is kept and put back like any other.
    const isKept = to === "replace" ? isThere : await hasContent(deps, found, signal);
    if (isKept) located.filled.push(path);
    else located.created.push(outermostMissing(found));
    return !isKept;
  };
  for (const each of directories) {
    located.directories.push({ ...each, isNew: await look(each.path) });
  }
  if (moves) await look(moves.to);
  const { created } = located;
  return {
    ...located,
    created: [...new Set(created)].filter((path) =>
      !created.some((other) => path.startsWith(`${other}/`))
    ),
  };
}

const outermostMissing = ({ root, names, existing }: HostPath): string =>
  [root.source, ...names.slice(0, existing + 1)].join("/");

function externalNetworks({ after, description }: Restored): string[] {
  const described = new Set(description.networks.map(({ Name }) => Name));
  return Object.values(after.networks)
    .flatMap(({ external, name }) => external && described.has(name) ? [name] : []);
}

/**
 * Files that were not read before could not come back.
 *
 * @throws {AppError} `conflict` for sources in a directory that exists.
 */
function assertNotOnDisk({ name, moves }: RestoredStack, { filled }: Located): void {
  if (!moves || !filled.includes(moves.to)) return;
  throw new AppError(
    "conflict",
    `The sources of ${name} in ${moves.to} are not known here; adopt the stack, or move them away`,
  );
}

/** @throws {AppError} `conflict` for volumes and directories in use. */
async function assertFree(
  deps: Deps,
  { volumes, directories }: PlannedParts,
  { filled }: Located,
): Promise<void> {
  const taken = volumes.find(({ isNew }) => !isNew);
  if (taken) {
    throw new AppError(
      "conflict",
      `Volume ${taken.name} already exists; remove it, or choose another name of the stack (as)`,
    );
  }
  const [path] = filled;
  if (path !== undefined) {
    throw new AppError("conflict", `${path} exists and is not empty; move it away`);
  }
  const binds = partsOf({ volumes: [], directories }).map(({ to }) => to.mount);
  const [user] = await containersUsing(deps, binds);
  if (!user) return;
  throw new AppError("conflict", `${user.name} uses a directory that is restored; stop using it`);
}

/** The plan of the deploy, as if the restored volumes and networks existed. */
async function planDeploy(
  deps: Deps,
  { loaded }: RestoredStack,
  { volumes, networks }: PlannedParts,
  { to }: StackRequest,
): Promise<Pick<StackRestorePlan, "changes" | "warnings">> {
  const observed = await observe(deps, loaded);
  const { changes, refusals } = planProject(loaded.project, {
    ...observed,
    volumes: new Set([...observed.volumes, ...volumes.map(({ name }) => name)]),
    networks: new Set([...observed.networks, ...networks]),
  }, { removeOrphans: to === "replace" });
  if (refusals.length > 0) throw new AppError("conflict", refusals.join("; "));
  return { changes, warnings: loaded.warnings.map(issueText) };
}

/**
 * Removing what nobody uses: stopped containers, unused networks, dangling images, the build cache,
 * and on demand unused volumes.
 *
 * @module
 */

import { containerInspect, containerRemove } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import { networkPrune } from "../../engine/networks.ts";
import { buildPrune } from "../../engine/system.ts";
import { volumePrune } from "../../engine/volumes.ts";
import type { Deps } from "../deps.ts";
import { AppError, asAppError } from "../errors.ts";
import type { Container } from "../inventory.ts";
import { errorFields } from "../log.ts";
import { currentContainers } from "./containers.ts";
import type { ReadDeps } from "./container_reads.ts";
import { forgetDiskUsage } from "./disk_usage.ts";
import { pruneImages } from "./images.ts";
import { isBeingRebuilt, readMark } from "./rebuild_marks.ts";

/** What one kind gave. */
export interface Pruned {
  /** Ids or names. */
  deleted: string[];
  /** Bytes. */
  spaceReclaimed: number;
  /** Why not everything could be removed; `null` when it was. */
  error: string | null;
}

export interface PruneReport {
  containers: Pruned;
  images: Pruned;
  networks: Pruned;
  volumes: Pruned;
  buildCache: Pruned;
  totalReclaimed: number;
}

type PruneDeps = ReadDeps & Pick<Deps, "log">;

/** Containers that are removed at a time. */
const REMOVALS_MAX = 4;

const NOTHING = { deleted: [], spaceReclaimed: 0 };

/**
 * Removes one kind after the other, users before what they use. A kind that fails does not stop
 * the others; its part of the report says why.
 *
 * @param options.includeVolumes Unused volumes with their data as well, named ones too.
 * @throws {EngineError | EngineUnreachableError} When every kind failed; the first failure.
 */
export async function pruneSystem(
  deps: PruneDeps,
  { includeVolumes }: { includeVolumes: boolean },
): Promise<PruneReport> {
  const failures: unknown[] = [];
  const part = async (prune: () => Promise<Omit<Pruned, "error">>): Promise<Pruned> => {
    try {
      const { deleted, spaceReclaimed } = await prune();
      return { deleted, spaceReclaimed, error: null };
    } catch (error) {
      failures.push(error);
      const known = asAppError(error);
      if (!known) deps.log.error("prune failed", errorFields(error));
      return { ...NOTHING, error: known?.message ?? "Internal error" };
    }
  };

  const { engine } = deps;
  const containers = await part(() => pruneContainers(deps));
  const networks = await part(() => pruneNetworks(deps));
  const volumes = includeVolumes
    ? await part(() => volumePrune(engine, { all: true }))
    : { ...NOTHING, error: null };
  const images = await part(() => pruneImages(deps));
  const buildCache = await part(() => buildPrune(engine));
  if (failures.length === (includeVolumes ? 5 : 4)) throw failures[0];

  forgetDiskUsage(deps);
  const parts = { containers, images, networks, volumes, buildCache };
  const totalReclaimed = Object.values(parts)
    .reduce((total, { spaceReclaimed }) => total + spaceReclaimed, 0);
  return { ...parts, totalReclaimed };
}

/**
 * Removes the containers that do not run, one by one: the engine's own prune cannot be told to
 * leave one alone, and would take the containers of a rebuild, which do not run for a moment.
 */
async function pruneContainers(
  deps: PruneDeps,
): Promise<{ deleted: string[]; spaceReclaimed: number }> {
  const waiting = (await currentContainers(deps))
    .filter((container) => isOver(container) && !isInRebuild(deps, container.name));
  const deleted: string[] = [];
  let spaceReclaimed = 0;
  const removeNext = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const size = await removeIfOver(deps, next.id);
      if (size === undefined) continue;
      deleted.push(next.id);
      spaceReclaimed += size;
    }
  };
  await Promise.all(Array.from({ length: REMOVALS_MAX }, removeNext));
  return { deleted, spaceReclaimed };
}

const isOver = ({ state, self }: Container) =>
  !self && (state === "created" || state === "exited" || state === "dead");

/** @returns The bytes that it had occupied; `undefined` when it is gone or runs by now. */
async function removeIfOver(deps: PruneDeps, id: string): Promise<number | undefined> {
  const { engine, inventory } = deps;
  try {
    const { SizeRw, Name } = await containerInspect(engine, id, { size: true });
    if (isInRebuild(deps, Name.replace(/^\//, ""))) return undefined;
    await containerRemove(engine, id);
    // The next read must not show it any more, however late the engine's event comes.
    inventory.remove(id, inventory.readNumber());
    return Math.max(0, SizeRw ?? 0);
  } catch (error) {
    if (error instanceof EngineError && (error.status === 404 || error.status === 409)) {
      return undefined;
    }
    throw error;
  }
}

/**
 * Removes unused networks, but not while a container is being rebuilt: for a moment it does not
 * run, so that its networks look unused, and it could not be started again without them.
 */
async function pruneNetworks(
  deps: PruneDeps,
): Promise<{ deleted: string[]; spaceReclaimed: number }> {
  const busy = (await currentContainers(deps)).find(({ name }) => isInRebuild(deps, name));
  if (busy) {
    throw new AppError("conflict", `Networks are left alone during the rebuild of ${busy.name}`);
  }
  const { deleted } = await networkPrune(deps.engine);
  return { deleted, spaceReclaimed: 0 };
}

/** Whether a container is part of a rebuild that is under way, or that was cut short. */
function isInRebuild({ engine }: PruneDeps, name: string): boolean {
  return readMark(name) !== undefined || isBeingRebuilt(engine, name);
}

/**
 * Removes stopped containers and unused networks, images and build cache, optionally also unused
 * volumes.
 *
 * @module
 */

import { EngineError } from "../../engine/errors.ts";
import { buildPrune } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import { messageFor } from "../errors.ts";
import { currentContainers } from "../containers/containers.ts";
import {
  type Candidate,
  type PruneDeps,
  type PrunedItem,
  type PruneScope,
  unusedCache,
  unusedContainers,
  unusedImages,
  unusedNetworks,
  unusedVolumes,
} from "./prune_candidates.ts";

/** In the order of removal: containers before the objects that they use. */
export const PRUNE_KINDS = ["containers", "networks", "volumes", "images", "buildCache"] as const;
export type PruneKind = (typeof PRUNE_KINDS)[number];

export interface PruneOptions {
  /** Only report what would be removed. */
  dryRun: boolean;
  /** Minimum age in hours since creation, or for containers since the end of their last run. */
  olderThanHours: number;
  kinds: readonly PruneKind[];
  /** Also remove tagged images that no container uses. */
  unusedImages: boolean;
}

/** The kinds that a request asks for: those that it names, by default all; volumes only if told so. */
export const prunedKinds = (
  { kinds, includeVolumes }: { kinds?: readonly string[] | undefined; includeVolumes: boolean },
): PruneKind[] =>
  PRUNE_KINDS.filter((kind) => kind === "volumes" ? includeVolumes : kinds?.includes(kind) ?? true);

/** The removed objects of one kind. */
interface Pruned {
  /** Names of networks and volumes, ids of other kinds. */
  deleted: string[];
  items: PrunedItem[];
  /** Number of items. */
  count: number;
  /** Bytes. */
  spaceReclaimed: number;
  /** Why the removal failed; `null` on success. */
  error: string | null;
}

type PruneReport = Record<PruneKind, Pruned> & { dryRun: boolean; totalReclaimed: number };

/** Limits of concurrent removals. Images depend on each other, so they are removed one by one. */
const PARALLEL = { containers: 4, networks: 1, volumes: 1, images: 1 } as const;

const CANDIDATES = {
  containers: unusedContainers,
  networks: unusedNetworks,
  volumes: unusedVolumes,
  images: unusedImages,
} as const;

const HOUR_MS = 60 * 60 * 1000;

/** Statuses of the engine for objects that are in use or no longer exist. */
const REFUSALS: readonly number[] = [403, 404, 409];

/**
 * Removes one kind after the other. A failure is reported and does not stop the other kinds.
 *
 * @throws {EngineError | EngineUnreachableError} The first failure, if every kind failed.
 */
export async function pruneSystem(
  deps: PruneDeps & Pick<Deps, "log">,
  options: PruneOptions,
): Promise<PruneReport> {
  const failures: unknown[] = [];
  const removed = new Set<string>();
  const parts = {} as Record<PruneKind, Pruned>;
  for (const kind of PRUNE_KINDS) {
    parts[kind] = { deleted: [], items: [], count: 0, spaceReclaimed: 0, error: null };
    if (!options.kinds.includes(kind)) continue;
    try {
      const { items, spaceReclaimed } = await pruneKind(deps, kind, options, removed);
      const deleted = items.map(({ id, name }) => kind === "networks" ? name : id);
      parts[kind] = { deleted, items, count: items.length, spaceReclaimed, error: null };
      if (kind === "containers") { for (const id of deleted) removed.add(id); }
    } catch (error) {
      failures.push(error);
      parts[kind].error = messageFor(deps.log, error, "prune failed", { kind });
    }
  }
  if (!options.dryRun) deps.diskUsage.invalidate();
  if (failures.length === new Set(options.kinds).size) throw failures[0];
  return { ...parts, dryRun: options.dryRun, totalReclaimed: totalReclaimed(Object.values(parts)) };
}

async function pruneKind(
  deps: PruneDeps,
  kind: PruneKind,
  { dryRun, olderThanHours, unusedImages }: PruneOptions,
  removed: ReadonlySet<string>,
): Promise<Pick<Pruned, "items" | "spaceReclaimed">> {
  const before = olderThanHours === 0
    ? undefined
    : new Date(deps.now().getTime() - olderThanHours * HOUR_MS).toISOString();
  if (kind === "buildCache") return await pruneCache(deps, { dryRun, olderThanHours, before });

  const remaining = (await currentContainers(deps)).filter(({ id }) => !removed.has(id));
  const candidates = await CANDIDATES[kind](deps, { before, remaining, unusedImages });
  const items = dryRun ? candidates : await removeAll(candidates, PARALLEL[kind]);
  return {
    items: items.map(({ id, name, size }) => ({ id, name, size })),
    spaceReclaimed: totalSize(items),
  };
}

async function pruneCache(
  deps: PruneDeps,
  { dryRun, olderThanHours, before }: Pick<PruneOptions, "dryRun" | "olderThanHours"> & {
    before: PruneScope["before"];
  },
): Promise<Pick<Pruned, "items" | "spaceReclaimed">> {
  if (dryRun) {
    const items = await unusedCache(deps, { before });
    return { items, spaceReclaimed: totalSize(items) };
  }
  const until = `${Math.ceil(olderThanHours * 3600)}s`;
  const filters = olderThanHours === 0 ? undefined : { until: [until] };
  const { deleted, spaceReclaimed } = await buildPrune(deps.engine, { filters });
  return { items: deleted.map((id) => ({ id, name: id, size: null })), spaceReclaimed };
}

/** @returns The removed candidates, in their order. */
async function removeAll(candidates: readonly Candidate[], parallel: number): Promise<Candidate[]> {
  const waiting = [...candidates];
  const removed = new Set<Candidate>();
  const removeNext = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      try {
        await next.remove();
        removed.add(next);
      } catch (error) {
        if (!(error instanceof EngineError && REFUSALS.includes(error.status))) throw error;
      }
    }
  };
  await Promise.all(Array.from({ length: parallel }, removeNext));
  return candidates.filter((candidate) => removed.has(candidate));
}

const totalSize = (items: readonly PrunedItem[]) =>
  items.reduce((sum, { size }) => sum + (size ?? 0), 0);

const totalReclaimed = (parts: readonly Pruned[]) =>
  parts.reduce((sum, { spaceReclaimed }) => sum + spaceReclaimed, 0);

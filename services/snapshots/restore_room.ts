/** Room on the engine's disk that a restore needs. @module */

import type { Entries } from "../backup/restic/entry.ts";
import type { Repository } from "../backup/restic/repository.ts";
import { type CheckedParts, checkParts } from "../backup/trees/check.ts";
import { engineDiskCheck } from "../backup/volumes/engine_disk.ts";
import { sizesOf } from "../backup/volumes/users.ts";
import type { Deps } from "../deps.ts";
import {
  assertEngineRoom,
  engineRoom,
  type RoomDeps,
  whileThereIsRoom,
} from "../updates/trial/room.ts";

/** In bytes; `null` where it is unknown. */
export interface RestoreRoom {
  /** By the files in the snapshot, without what volumes have that are replaced. */
  needed: number | null;
  /** On the disk of the engine. */
  free: number | null;
}

/** The engine may take minutes to measure volumes; then its last answer is used. */
const SIZES_MS = 2_000;

/** Longest reading of the snapshot, in milliseconds. */
const READ_MS = 10_000;

/**
 * Reads the files that are to be restored, as far as there is time: a job reads all before it stops
 * anything. What is restored to another disk does not count, e.g. directories of the host.
 *
 * @throws {AppError} As `checkParts()`.
 */
export async function readRestoreRoom(
  deps: RoomDeps & Pick<Deps, "diskUsage">,
  repository: Repository,
  restored: CheckedParts,
): Promise<RestoreRoom> {
  const free = await engineRoom(deps) ?? null;
  const signal = AbortSignal.timeout(READ_MS);
  const sizes = await checkParts(repository, restored, signal).catch((error) => {
    if (!signal.aborted) throw error;
    return null;
  });
  // Named files may replace ones of any size.
  if (!sizes || restored.files) return { needed: null, free };
  const isOnDisk = await engineDiskCheck(deps.engine);
  const used = await sizesOf(deps, { waitMs: SIZES_MS }).catch(() => new Map<string, number>());
  const needed = restored.parts.reduce(
    (sum, { to: { mount } }, at) =>
      isOnDisk(mount) ? sum + sizes[at]! - (used.get(mount.source) ?? 0) : sum,
    0,
  );
  return { needed: Math.max(0, needed), free };
}

/** @throws {AppError} `conflict` if the engine's disk has too little, where both are known. */
export const assertRoomToRestore = ({ needed, free }: RestoreRoom): void =>
  assertEngineRoom(needed, free, "The restore may need");

/** Ends a restore before it fills the engine's disk, which others write to, too. */
export const withinRoom = (deps: RoomDeps) => (entries: Entries): Entries =>
  whileThereIsRoom(deps, entries, "The restore needs");

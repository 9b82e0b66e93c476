/** Room on the engine's disk that a restore needs. @module */

import type { Entries } from "../backup/restic/entry.ts";
import { bytesOf } from "../backup/restic/entry_directory.ts";
import type { Repository } from "../backup/restic/repository.ts";
import type { Snapshot } from "../backup/restic/snapshot.ts";
import { translated } from "../backup/targets/repository.ts";
import type { RestoredPart } from "../backup/trees/part.ts";
import { engineDiskCheck } from "../backup/volumes/engine_disk.ts";
import { sizesOf } from "../backup/volumes/users.ts";
import type { Deps } from "../deps.ts";
import {
  assertEngineRoom,
  engineRoom,
  type RoomDeps,
  whileThereIsRoom,
} from "../updates/trial/room.ts";
import { IMAGES_DIRECTORY, savedImages } from "./saved_images.ts";

/** In bytes; `null` where it is unknown. */
export interface RestoreRoom {
  /** By the size of the snapshot, without what volumes have that are replaced. */
  needed: number | null;
  /** On the disk of the engine. */
  free: number | null;
}

/** The engine may take minutes to measure volumes; then its last answer is used. */
const SIZES_MS = 2_000;

/** Longest reading of the snapshot, in milliseconds. */
const READ_MS = 30_000;

interface RestoredFrom {
  repository: Repository;
  snapshot: Snapshot;
}

/** A part of a snapshot has no known size, nor what is restored to another disk: to directories of the host, e.g. */
export async function readRestoreRoom(
  deps: RoomDeps & Pick<Deps, "diskUsage">,
  from: RestoredFrom,
  parts: readonly RestoredPart[],
): Promise<RestoreRoom> {
  const free = await engineRoom(deps) ?? null;
  const stored = from.snapshot.paths.filter((path) => /^\/(volumes|directories)\//.test(path));
  const restored = new Set(parts.map(({ from }) => from));
  const isOnDisk = await engineDiskCheck(deps.engine);
  const isWhole = parts.every(({ to }) => isOnDisk(to.mount)) &&
    stored.every((path) => restored.has(bytesOf(path.slice(1))));
  const size = from.snapshot.summary?.bytes;
  if (!isWhole || size === undefined) return { needed: null, free };
  const sizes = await sizesOf(deps, { waitMs: SIZES_MS }).catch(() => new Map<string, number>());
  const replaced = parts.reduce((sum, { to }) => sum + (sizes.get(to.mount.source) ?? 0), 0);
  return { needed: Math.max(0, size - replaced - await sizeOfImages(from)), free };
}

/** Most of them are on the host already. */
async function sizeOfImages({ repository, snapshot }: RestoredFrom): Promise<number> {
  const signal = AbortSignal.timeout(READ_MS);
  if ((await savedImages({ repository, snapshot: snapshot.id }, signal)).size === 0) return 0;
  return await translated(async () => {
    let sum = 0;
    const directory = bytesOf(IMAGES_DIRECTORY);
    const images = repository.listDirectory(snapshot.id, directory, signal);
    for await (const { size } of images) sum += size;
    return sum;
  });
}

/** @throws {AppError} `conflict` if the engine's disk has too little, where both are known. */
export const assertRoomToRestore = ({ needed, free }: RestoreRoom): void =>
  assertEngineRoom(needed, free, "The restore may need");

/** Ends a restore before it fills the engine's disk: the size that a snapshot states may be forged. */
export const withinRoom = (deps: RoomDeps) => (entries: Entries): Entries =>
  whileThereIsRoom(deps, entries, "The restore needs");

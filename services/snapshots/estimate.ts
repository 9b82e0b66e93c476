/** Estimate of a backup: its size, its time and the room at its target. @module */

import { selectJobs } from "../../db/jobs.ts";
import { readRoom } from "../backup/targets/targets.ts";
import { sizesOf } from "../backup/volumes/users.ts";
import type { Deps } from "../deps.ts";
import type { Contents } from "./contents.ts";
import type { SnapshotInput, SnapshotResult } from "./job.ts";
import { snapshotKind } from "./kinds.ts";

/** Values are `null` where they are unknown. */
export interface Estimate {
  /** Of all files, in bytes: as the engine measures volumes, else that of the last backup. */
  size: number | null;
  /** May be added at the target, in bytes, before it is compressed. */
  added: number | null;
  /** By the speed of the last backup. */
  seconds: number | null;
  /** Left at the target, in bytes. */
  room: number | null;
  /** Parts in which the last backup has found SQLite databases, e.g. `/volumes/shop_data`. */
  sqlite: string[] | null;
}

/** The engine may take minutes to measure; then its last answer is used. */
const SIZES_MS = 2_000;

/** Backups of the same object in which one at the same target is looked for. */
const JOBS_MAX = 50;

/** @param name Target of the job. */
export async function estimateSnapshot(
  deps: Deps,
  { parts }: Pick<Contents, "parts">,
  { name, targetId }: { name: string; targetId: string },
): Promise<Estimate> {
  const past = pastOf(deps, name);
  // An estimate is without images.
  const last = past.find(({ withImages }) => !withImages) ?? past[0];
  const size = await measure(deps, parts) ?? last?.size ?? null;
  const stored = past.find((each) => each.targetId === targetId)?.size ?? 0;
  return {
    size,
    added: size === null ? null : Math.max(0, size - stored),
    seconds: size !== null && last !== undefined
      ? Math.ceil(last.seconds * size / Math.max(1, last.size))
      : null,
    room: await readRoom(deps, { id: targetId }),
    sqlite: last?.sqlite ?? null,
  };
}

/** Backups that succeeded, the newest first. */
function pastOf({ db }: Pick<Deps, "db">, target: string) {
  const filter = { kind: [snapshotKind.id], status: "succeeded", target } as const;
  return selectJobs(db, filter, { limit: JOBS_MAX }).map(({ input, result, steps }) => {
    const { startedAt, endedAt } = steps.find(({ name }) => name === "read") ?? {};
    return {
      targetId: (input as SnapshotInput).targetId,
      withImages: (input as SnapshotInput).withImages ?? false,
      size: (result as SnapshotResult).size,
      sqlite: (result as SnapshotResult).sqlite,
      seconds: (Date.parse(endedAt ?? "") - Date.parse(startedAt ?? "")) / 1_000 || 0,
    };
  });
}

/** Bytes of the volumes; `null` if a size is unknown, also because a part is a directory of the host. */
async function measure(
  deps: Pick<Deps, "diskUsage">,
  parts: Contents["parts"],
): Promise<number | null> {
  if (parts.some(({ mount }) => mount.type !== "volume")) return null;
  const sizes = await sizesOf(deps, { waitMs: SIZES_MS }).catch(() => new Map<string, number>());
  let sum = 0;
  for (const { mount } of parts) {
    const size = sizes.get(mount.source);
    if (size === undefined) return null;
    sum += size;
  }
  return sum;
}

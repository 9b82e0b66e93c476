/** Disk usage of containers, images, volumes and the build cache. @module */

import type { DiskUsagePart } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { DiskUsageSnapshot } from "./disk_usage_cache.ts";

/** Sizes are bytes. */
export interface DiskBreakdown {
  containers: DiskUsagePart;
  images: DiskUsagePart;
  volumes: DiskUsagePart;
  buildCache: DiskUsagePart;
  totalSize: number;
  /** ISO 8601, UTC. */
  computedAt: string;
}

/** Time for which the sizes of single volumes are shown, in milliseconds. */
const VOLUME_SIZES_MS = 60 * 60_000;

/**
 * Returns the disk usage by kind, at most a minute old. If the engine takes longer than `waitMs`,
 * the last answer is returned, whatever its age.
 *
 * @throws {AppError} `unavailable` if there is no answer yet.
 */
export async function readDiskBreakdown(
  { diskUsage }: Pick<Deps, "diskUsage">,
  { waitMs }: { waitMs?: number } = {},
): Promise<DiskBreakdown> {
  const snapshot = await diskUsage.read(waitMs);
  if (snapshot) return toBreakdown(snapshot);
  throw new AppError(
    "unavailable",
    "The engine is still computing its disk usage; try again later",
  );
}

/** Bytes by volume name, from an answer of the last hour; empty without one. */
export function volumeSizes(
  { diskUsage: { latest }, now }: Pick<Deps, "diskUsage" | "now">,
): Map<string, number> {
  if (!latest || now().getTime() - latest.computedAt.getTime() > VOLUME_SIZES_MS) return new Map();
  const known = latest.usage.volumes.items.filter(({ size }) => size >= 0);
  return new Map(known.map(({ name, size }) => [name, size]));
}

function toBreakdown({ usage, computedAt }: DiskUsageSnapshot): DiskBreakdown {
  const { containers, images, volumes: { count, size }, buildCache } = usage;
  return {
    containers,
    images,
    volumes: { count, size },
    buildCache: { count: buildCache.count, size: buildCache.size },
    totalSize: containers.size + images.size + size + buildCache.size,
    computedAt: computedAt.toISOString(),
  };
}

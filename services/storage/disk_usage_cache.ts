/**
 * The engine's disk usage. Computing it takes the engine up to minutes, so it is requested on
 * demand, at most once at a time, and cached.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import { EngineError } from "../../engine/errors.ts";
import { type DiskUsage, systemDiskUsage } from "../../engine/system.ts";
import { withDeadline } from "../deadline.ts";

/** An answer of the engine. */
export interface DiskUsageSnapshot {
  usage: DiskUsage;
  computedAt: Date;
}

/** Time for which an answer counts as current, in milliseconds. */
const CURRENT_MS = 60_000;

/** Longest wait of a caller for the engine by default, in milliseconds. */
const WAIT_MS = 60_000;

/** Retry interval while the engine is busy with another client's request, in milliseconds. */
const BUSY_RETRY_MS = 250;

export type DiskUsageCache = ReturnType<typeof createDiskUsageCache>;

export function createDiskUsageCache(engine: Engine, now: () => Date) {
  let latest: DiskUsageSnapshot | undefined;
  let isOutdated = false;
  let pending: Promise<void> | undefined;
  let invalidations = 0;

  const isCurrent = () =>
    latest && !isOutdated && now().getTime() - latest.computedAt.getTime() <= CURRENT_MS;

  async function compute(): Promise<void> {
    const before = invalidations;
    const usage = await requestUsage(engine);
    latest = { usage, computedAt: now() };
    isOutdated = before !== invalidations;
  }

  return {
    /** The last answer, of any age. */
    get latest() {
      return latest;
    },

    /**
     * An answer that is at most a minute old. If the engine takes longer than `waitMs`, the last
     * answer of any age is returned, and the engine continues for the next caller.
     */
    async read(waitMs = WAIT_MS): Promise<DiskUsageSnapshot | undefined> {
      const end = performance.now() + waitMs;
      while (!isCurrent() && performance.now() < end) {
        pending ??= compute().finally(() => pending = undefined);
        await withDeadline(pending, end - performance.now());
      }
      return latest;
    },

    /** Marks the cached answer as outdated, after something was removed. */
    invalidate(): void {
      invalidations++;
      isOutdated = true;
    },
  };
}

/** Some engines compute for one client at a time and refuse the others. */
async function requestUsage(engine: Engine): Promise<DiskUsage> {
  const end = performance.now() + WAIT_MS;
  for (;;) {
    try {
      return await systemDiskUsage(engine);
    } catch (error) {
      const isBusy = error instanceof EngineError && /already running/i.test(error.message);
      if (!isBusy || performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_RETRY_MS));
    }
  }
}

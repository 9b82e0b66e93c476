/**
 * CPU and memory use of containers over time. A container keeps its history by its name when it is
 * recreated.
 *
 * @module
 */

import {
  type ContainerPoint,
  countContainerSeries,
  deleteContainerSamplesBefore,
  deleteContainerSeriesBefore,
  deleteOldestContainerSeries,
  insertContainerSample,
  rollUpContainerSamples,
  selectContainerHistory,
  selectContainerSeries,
  selectContainerSeriesAfter,
  selectLastContainerSample,
  upsertContainerSeries,
} from "../../../db/ce/container_samples.ts";
import { type Resolution, RESOLUTIONS } from "../../../db/ce/metric_samples.ts";
import type { Deps } from "../../deps.ts";
import { asAppError } from "../../errors.ts";
import { LOCAL_HOST } from "../../host_id.ts";
import { type ReadDeps, resolveContainer } from "../containers/reads.ts";
import {
  describeWindow,
  KEPT_S,
  rounded,
  rowsOf,
  summarize,
  type Summary,
  windowOf,
  type WindowQuery,
} from "./window.ts";

/** Limit of container names with a history; the one sampled the longest time ago gives way. */
const SERIES_MAX = 1_000;

/** Limit of rows of each resolution; with many containers a resolution is kept for less time. */
const ROWS_MAX = 2_000_000;

/** Series and rows of each that one sweep checks. */
const SWEPT_SERIES = 20;
const SWEPT_ROWS = 500;

export interface ContainerHistory {
  name: string;
  /** ISO 8601, UTC. */
  from: string;
  to: string;
  hours: number;
  resolutionSeconds: number;
  /** Oldest first. Times without samples have no point. */
  history: { timestamp: string; cpuPercent: number; memory: number }[];
  summary: { cpuPercent: Summary; memory: Summary };
}

/** What a round leaves to the next one. */
export interface ContainerHistoryMemory {
  /** Unix seconds of the last round. */
  ts?: number | undefined;
  /** The last series that was swept. */
  sweptId?: number;
}

/**
 * Stores the current figures of all containers. The roll-ups of a minute are made at the first
 * round after it, also after a restart.
 */
export function recordContainerSamples(
  { inventory, metrics, now, stats }: Pick<Deps, "inventory" | "metrics" | "now" | "stats">,
  memory: ContainerHistoryMemory,
): void {
  const figures = stats.publish();
  const ts = Math.floor(now().getTime() / 1000 / 15) * 15;
  if (ts === memory.ts) return;
  metrics.transaction(() => {
    const before = memory.ts ?? selectLastContainerSample(metrics);
    if (before !== undefined && Math.floor(before / 60) !== Math.floor(ts / 60)) {
      rollUpContainerSamples(metrics, { hostId: LOCAL_HOST, ts: before, of: 15, into: 60 });
      rollUpContainerSamples(metrics, { hostId: LOCAL_HOST, ts: before, of: 60, into: 900 });
    }
    for (const [id, { cpuPercent, memory }] of figures) {
      const name = inventory.get(id)?.name;
      if (name === undefined) continue;
      const series = upsertContainerSeries(metrics, { hostId: LOCAL_HOST, name, ts });
      insertContainerSample(metrics, { series, ts, cpuPercent, memory });
    }
    for (let count = countContainerSeries(metrics); count > SERIES_MAX; count--) {
      deleteOldestContainerSeries(metrics);
    }
  });
  memory.ts = ts;
}

/** Deletes expired rows of the next few series. */
export function sweepContainerHistory(
  { metrics, now }: Pick<Deps, "metrics" | "now">,
  memory: ContainerHistoryMemory,
): void {
  const at = Math.floor(now().getTime() / 1000);
  const kept = keptSeconds(countContainerSeries(metrics));
  const ids = selectContainerSeriesAfter(metrics, {
    after: memory.sweptId ?? 0,
    limit: SWEPT_SERIES,
  });
  metrics.transaction(() => {
    for (const series of ids) {
      for (const resolution of RESOLUTIONS) {
        const before = at - kept[resolution];
        deleteContainerSamplesBefore(metrics, { series, resolution, before, rowsMax: SWEPT_ROWS });
      }
    }
    // A day later than its rows, which go in portions.
    deleteContainerSeriesBefore(metrics, at - KEPT_S[900] - 86_400);
  });
  memory.sweptId = ids.length < SWEPT_SERIES ? 0 : ids.at(-1)!;
}

/**
 * The history of a container, also of a removed one by its name.
 *
 * @throws {AppError} `not_found`; `invalid` for a window that is empty.
 */
export async function readContainerHistory(
  deps: ReadDeps & Pick<Deps, "metrics" | "now">,
  ref: string,
  query: WindowQuery,
): Promise<ContainerHistory> {
  const { metrics, now } = deps;
  const window = windowOf(query, now(), keptSeconds(countContainerSeries(metrics)));
  const name = await nameOf(deps, ref);
  const series = selectContainerSeries(metrics, { hostId: LOCAL_HOST, name });
  const points = series === undefined
    ? []
    : selectContainerHistory(metrics, { series, ...rowsOf(window) });
  return {
    name,
    ...describeWindow(window),
    history: points.map(({ ts, cpuPercent, memory }) => ({
      timestamp: new Date(ts * 1000).toISOString(),
      cpuPercent: rounded(cpuPercent),
      memory: Math.round(memory),
    })),
    summary: {
      cpuPercent: summaryOf(points, "cpuPercent"),
      memory: summaryOf(points, "memory"),
    },
  };
}

function summaryOf(points: readonly ContainerPoint[], figure: "cpuPercent" | "memory"): Summary {
  return summarize(points.map((point) => ({
    min: point[`${figure}Min`],
    mean: point[figure],
    max: point[`${figure}Max`],
    samples: point.samples,
  })));
}

/** A name that has a history needs neither its container nor the engine. */
async function nameOf(deps: ReadDeps & Pick<Deps, "metrics">, ref: string): Promise<string> {
  try {
    return (await resolveContainer(deps, ref)).name;
  } catch (error) {
    const series = selectContainerSeries(deps.metrics, { hostId: LOCAL_HOST, name: ref });
    if (asAppError(error) && series !== undefined) return ref;
    throw error;
  }
}

/** How long each resolution is kept with so many series, in seconds. */
function keptSeconds(seriesCount: number): Record<Resolution, number> {
  const kept = (resolution: Resolution) =>
    Math.min(KEPT_S[resolution], Math.floor(ROWS_MAX / Math.max(1, seriesCount)) * resolution);
  return { 15: kept(15), 60: kept(60), 900: kept(900) };
}

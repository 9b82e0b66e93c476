/**
 * History of CPU, memory, network and disk use of containers, by container name: a recreated
 * container continues its history.
 *
 * @module
 */

import {
  CONTAINER_SERIES_NAMES,
  type ContainerFigures,
  type ContainerSeriesName,
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
} from "../../db/container_samples.ts";
import { type Resolution, RESOLUTIONS } from "../../db/metric_samples.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import { LOCAL_HOST } from "../../db/host_id.ts";
import { type ReadDeps, resolveContainer } from "../containers/reads.ts";
import {
  describeWindow,
  RETENTION_S,
  round2,
  rowsOf,
  summarize,
  type Summary,
  windowOf,
  type WindowQuery,
} from "./window.ts";

/** Limit of series; beyond it the least recently sampled series is deleted. */
const SERIES_MAX = 1_000;

/** Limit of rows per resolution; with many series the retention period is shorter. */
const ROWS_MAX = 2_000_000;

/** Limits of one sweep: series, and rows per series and resolution. */
const SWEEP_SERIES = 20;
const SWEEP_ROWS = 500;

interface ContainerHistory {
  name: string;
  /** ISO 8601, UTC. */
  from: string;
  to: string;
  hours: number;
  resolutionSeconds: number;
  /** Oldest first. Times without samples have no point. */
  history: ({ timestamp: string } & ContainerFigures)[];
  summary: Record<ContainerSeriesName, Summary>;
}

/** State that is carried from one round to the next. */
export interface ContainerSamplerState {
  /** Unix seconds of the last round. */
  ts?: number | undefined;
  /** Id of the last swept series. */
  sweptId?: number;
}

/**
 * Stores a sample of every container. The first round after a minute rolls up that minute, also
 * after a restart.
 */
export function recordContainerSamples(
  { inventory, metrics, now, stats }: Pick<Deps, "inventory" | "metrics" | "now" | "stats">,
  state: ContainerSamplerState,
): void {
  const samples = stats.publish();
  const ts = Math.floor(now().getTime() / 1000 / 15) * 15;
  if (ts === state.ts) return;
  metrics.transaction(() => {
    const before = state.ts ?? selectLastContainerSample(metrics);
    if (before !== undefined && Math.floor(before / 60) !== Math.floor(ts / 60)) {
      rollUpContainerSamples(metrics, { hostId: LOCAL_HOST, ts: before, of: 15, into: 60 });
      rollUpContainerSamples(metrics, { hostId: LOCAL_HOST, ts: before, of: 60, into: 900 });
    }
    for (const [id, { figures }] of samples) {
      const name = inventory.get(id)?.name;
      if (name === undefined) continue;
      const series = upsertContainerSeries(metrics, { hostId: LOCAL_HOST, name, ts });
      insertContainerSample(metrics, { series, ts, ...figures });
    }
    for (let count = countContainerSeries(metrics); count > SERIES_MAX; count--) {
      deleteOldestContainerSeries(metrics);
    }
  });
  state.ts = ts;
}

/** Deletes expired rows of the next few series. */
export function sweepContainerHistory(
  { metrics, now }: Pick<Deps, "metrics" | "now">,
  state: ContainerSamplerState,
): void {
  const at = Math.floor(now().getTime() / 1000);
  const retentionS = retentionSeconds(countContainerSeries(metrics));
  const ids = selectContainerSeriesAfter(metrics, {
    after: state.sweptId ?? 0,
    limit: SWEEP_SERIES,
  });
  metrics.transaction(() => {
    for (const series of ids) {
      for (const resolution of RESOLUTIONS) {
        const before = at - retentionS[resolution];
        deleteContainerSamplesBefore(metrics, { series, resolution, before, rowsMax: SWEEP_ROWS });
      }
    }
    // A day later than its rows, which are deleted in batches.
    deleteContainerSeriesBefore(metrics, at - RETENTION_S[900] - 86_400);
  });
  state.sweptId = ids.length < SWEEP_SERIES ? 0 : ids.at(-1)!;
}

/**
 * Reads the history of a container. A removed container is found by its name.
 *
 * @throws {AppError} `not_found`; `invalid` for an empty window.
 */
export async function readContainerHistory(
  deps: ReadDeps & Pick<Deps, "metrics" | "now">,
  ref: string,
  query: WindowQuery,
): Promise<ContainerHistory> {
  const { metrics, now } = deps;
  const window = windowOf(query, now(), retentionSeconds(countContainerSeries(metrics)));
  const name = await findName(deps, ref);
  const series = selectContainerSeries(metrics, { hostId: LOCAL_HOST, name });
  const points = series === undefined
    ? []
    : selectContainerHistory(metrics, { series, ...rowsOf(window) });
  return {
    name,
    ...describeWindow(window),
    history: points.map((point) => ({
      timestamp: new Date(point.ts * 1000).toISOString(),
      cpuPercent: round2(point.cpuPercent),
      memory: point.memory,
      networkRxPerSecond: point.networkRxPerSecond,
      networkTxPerSecond: point.networkTxPerSecond,
      blockReadPerSecond: point.blockReadPerSecond,
      blockWritePerSecond: point.blockWritePerSecond,
    })),
    summary: Object.fromEntries(
      CONTAINER_SERIES_NAMES.map((name) => [name, summarize(points, name)]),
    ) as ContainerHistory["summary"],
  };
}

/** The name of a container; works for removed containers and without the engine. */
async function findName(deps: ReadDeps & Pick<Deps, "metrics">, ref: string): Promise<string> {
  try {
    return (await resolveContainer(deps, ref)).name;
  } catch (error) {
    const series = selectContainerSeries(deps.metrics, { hostId: LOCAL_HOST, name: ref });
    if (asAppError(error) && series !== undefined) return ref;
    throw error;
  }
}

/** Retention period of each resolution for a number of series, in seconds. */
function retentionSeconds(seriesCount: number): Record<Resolution, number> {
  const rowsMax = Math.floor(ROWS_MAX / Math.max(1, seriesCount));
  const seconds = (resolution: Resolution) =>
    Math.min(RETENTION_S[resolution], rowsMax * resolution);
  return { 15: seconds(15), 60: seconds(60), 900: seconds(900) };
}

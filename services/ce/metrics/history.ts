/**
 * How the host has been doing: samples every 15 seconds, rolled up to a minute and to 15 minutes,
 * kept for 30 days.
 *
 * @module
 */

import {
  deleteMetricSamplesBefore,
  type Figures,
  insertMetricSample,
  type MetricPoint,
  RESOLUTIONS,
  rollUpMetricSamples,
  selectMetricHistory,
  SERIES_NAMES,
  type SeriesName,
} from "../../../db/ce/metric_samples.ts";
import { releaseFreePages } from "../../../db/free_pages.ts";
import type { Deps } from "../../deps.ts";
import type { CpuTime } from "../../state/host_cache.ts";
import { LOCAL_HOST } from "../../host_id.ts";
import { busyPercent } from "../host/metrics.ts";
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

/** Seconds between two samples. */
export const SAMPLE_S = RESOLUTIONS[0];

/** A sample of the host that is older says nothing about now. */
const SAMPLE_AGE_MAX_MS = 30_000;

/** Rows of a resolution that go in one round; a round brings one, so the rest is catching up. */
const SWEPT_MAX = 500;

/** Free pages that new rows will soon need: one megabyte. */
const FREE_PAGES_KEPT = 256;

export type HistoryPoint = { timestamp: string } & Figures;

export interface MetricsHistory {
  /** ISO 8601, UTC. */
  from: string;
  to: string;
  hours: number;
  resolutionSeconds: number;
  /** Oldest first. Where there were no samples, there is no point. */
  history: HistoryPoint[];
  summary: Record<SeriesName, Summary>;
}

/** What a round of the sampler leaves to the next one. */
export interface SamplerMemory {
  /** Processor time at the last sample. */
  cpuTime?: CpuTime;
  /** When the last sample was stored for, in Unix seconds. */
  ts?: number;
}

/**
 * Stores how the host is doing, and brings the roll-ups of this moment up to date, all in one
 * transaction: whenever the service ends, nothing is missing and nothing counted twice.
 *
 * @returns Whether there was something to store: a host that is not sampled leaves a gap.
 */
export function recordHostSample(
  { host, inventory, metrics, now }: Pick<Deps, "host" | "inventory" | "metrics" | "now">,
  memory: SamplerMemory,
): boolean {
  const at = now().getTime();
  const sample = host.latest;
  if (!sample || at - Date.parse(sample.timestamp) > SAMPLE_AGE_MAX_MS) {
    delete memory.cpuTime;
    return false;
  }
  const ts = Math.floor(at / 1000 / SAMPLE_S) * SAMPLE_S;
  // A timer may end a moment early, and then ends again in time.
  if (ts === memory.ts) return false;

  // Over the whole time since the last sample, not only over that of the host's own last one.
  const cpuPercent = memory.cpuTime && busyPercent(memory.cpuTime, sample.cpuTime);
  memory.cpuTime = sample.cpuTime;
  memory.ts = ts;
  const containers = inventory.live ? inventory.list() : undefined;
  metrics.transaction(() => {
    insertMetricSample(metrics, {
      hostId: LOCAL_HOST,
      ts,
      cpuPercent: cpuPercent ?? sample.cpuPercent,
      memoryPercent: sample.memory.percent,
      diskPercent: sample.disk.percent,
      load1: sample.load[0],
      containersRunning: containers?.filter(({ state }) => state === "running").length ?? null,
      containersTotal: containers?.length ?? null,
    });
    rollUpMetricSamples(metrics, { hostId: LOCAL_HOST, ts, of: 15, into: 60 });
    rollUpMetricSamples(metrics, { hostId: LOCAL_HOST, ts, of: 60, into: 900 });
  });
  return true;
}

/** Deletes what has been kept for its time, a little in each round. */
export function sweepHistory({ metrics, now }: Pick<Deps, "metrics" | "now">): void {
  const at = Math.floor(now().getTime() / 1000);
  for (const resolution of RESOLUTIONS) {
    deleteMetricSamplesBefore(metrics, {
      hostId: LOCAL_HOST,
      resolution,
      before: at - KEPT_S[resolution],
      rowsMax: SWEPT_MAX,
    });
  }
  releaseFreePages(metrics, { keep: FREE_PAGES_KEPT });
}

/**
 * The history of the host, in the finest resolution that does not give too many points.
 *
 * @throws {AppError} `invalid` for a window that is empty.
 */
export function readHistory(
  { metrics, now }: Pick<Deps, "metrics" | "now">,
  query: WindowQuery,
): MetricsHistory {
  const window = windowOf(query, now());
  const points = selectMetricHistory(metrics, { hostId: LOCAL_HOST, ...rowsOf(window) });
  return {
    ...describeWindow(window),
    history: points.map(toHistoryPoint),
    summary: Object.fromEntries(
      SERIES_NAMES.map((name) => [name, summaryOf(points, name)]),
    ) as MetricsHistory["summary"],
  };
}

function toHistoryPoint(point: MetricPoint): HistoryPoint {
  return {
    timestamp: new Date(point.ts * 1000).toISOString(),
    cpuPercent: rounded(point.cpuPercent),
    memoryPercent: rounded(point.memoryPercent),
    diskPercent: rounded(point.diskPercent),
    load1: rounded(point.load1),
    containersRunning: rounded(point.containersRunning),
    containersTotal: rounded(point.containersTotal),
  };
}

function summaryOf(points: readonly MetricPoint[], name: SeriesName): Summary {
  const isContainers = name === "containersRunning" || name === "containersTotal";
  return summarize(points.flatMap((point) => {
    const mean = point[name];
    if (mean === null) return [];
    return {
      min: point[`${name}Min`] ?? mean,
      mean,
      max: point[`${name}Max`] ?? mean,
      samples: isContainers ? point.engineSamples : point.samples,
    };
  }));
}

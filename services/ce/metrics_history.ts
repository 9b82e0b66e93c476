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
  type Resolution,
  RESOLUTIONS,
  rollUpMetricSamples,
  selectMetricHistory,
  SERIES_NAMES,
  type SeriesName,
} from "../../db/ce/metric_samples.ts";
import { releaseFreePages } from "../../db/free_pages.ts";
import type { Deps } from "../deps.ts";
import type { CpuTime } from "../host_board.ts";
import { LOCAL_HOST } from "../host_id.ts";
import { busyPercent } from "./host_metrics.ts";

/** Seconds between two samples. */
export const SAMPLE_S = RESOLUTIONS[0];

/** A sample of the host that is older says nothing about now. */
const SAMPLE_AGE_MAX_MS = 30_000;

const HOUR_S = 3_600;
const DAY_S = 24 * HOUR_S;

/** How long the rows of each resolution are kept, in seconds. */
const KEPT_S: Record<Resolution, number> = { 15: 2 * DAY_S, 60: 8 * DAY_S, 900: 30 * DAY_S };

/** Rows of a resolution that go in one round; a round brings one, so the rest is catching up. */
const SWEPT_MAX = 500;

/** Free pages that new rows will soon need: one megabyte. */
const FREE_PAGES_KEPT = 256;

/** Most points of an answer. */
const POINTS_MAX = 1_000;

/**
 * Seconds between the points of an answer, from fine to coarse, and the resolution that they are
 * made of. Each reaches as far back as its points do not become too many.
 */
const STEPS: readonly { step: number; resolution: Resolution }[] = [
  { step: 15, resolution: 15 },
  { step: 60, resolution: 60 },
  { step: 120, resolution: 60 },
  { step: 300, resolution: 60 },
  { step: 900, resolution: 900 },
];

/** `null` where nothing is known. */
export type Summary = Record<
  SeriesName,
  { min: number | null; avg: number | null; max: number | null }
>;

export type HistoryPoint = { timestamp: string } & Figures;

export interface MetricsHistory {
  hours: number;
  resolutionSeconds: number;
  /** Oldest first. Where there were no samples, there is no point. */
  history: HistoryPoint[];
  summary: Summary;
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
 * The last hours of the host, in the finest resolution that does not give too many points. What
 * lies in the future (the clock was set back) is left out.
 */
export function readHistory(
  { metrics, now }: Pick<Deps, "metrics" | "now">,
  { hours }: { hours: number },
): MetricsHistory {
  const to = Math.floor(now().getTime() / 1000);
  // The range seldom begins and ends on a point, which makes one more.
  const { step, resolution } = STEPS.find(({ step }) => hours * HOUR_S / step + 1 <= POINTS_MAX) ??
    STEPS.at(-1)!;
  const begin = to - hours * HOUR_S;
  const points = selectMetricHistory(metrics, {
    hostId: LOCAL_HOST,
    resolution,
    step,
    from: begin - begin % step,
    to,
  });
  return {
    hours,
    resolutionSeconds: step,
    history: points.map(toHistoryPoint),
    summary: Object.fromEntries(
      SERIES_NAMES.map((name) => [name, summaryOf(points, name)]),
    ) as Summary,
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

function summaryOf(points: readonly MetricPoint[], name: SeriesName): Summary[SeriesName] {
  const isContainers = name === "containersRunning" || name === "containersTotal";
  let min = Infinity;
  let max = -Infinity;
  let sum = 0;
  let weights = 0;
  for (const point of points) {
    const value = point[name];
    if (value === null) continue;
    const weight = isContainers ? point.engineSamples : point.samples;
    min = Math.min(min, point[`${name}Min`] ?? value);
    max = Math.max(max, point[`${name}Max`] ?? value);
    sum += value * weight;
    weights += weight;
  }
  if (weights === 0) return { min: null, avg: null, max: null };
  return { min: rounded(min), avg: rounded(sum / weights), max: rounded(max) };
}

const rounded = <Value extends number | null>(value: Value): Value =>
  (value === null ? null : Math.round(value * 100) / 100) as Value;

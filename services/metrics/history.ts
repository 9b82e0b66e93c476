/**
 * History of the host's metrics: samples every 15 seconds, rolled up to one minute and 15 minutes,
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
} from "../../db/metric_samples.ts";
import { releaseFreePages } from "../../db/free_pages.ts";
import type { Deps } from "../deps.ts";
import type { CpuTime } from "./host/cache.ts";
import { LOCAL_HOST } from "../../db/host_id.ts";
import { busyPercent } from "./host/metrics.ts";
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

/** Interval of samples, in seconds. */
export const SAMPLE_S = RESOLUTIONS[0];

/** Limit of the age of a host sample that is stored as current. */
const SAMPLE_AGE_MAX_MS = 30_000;

/** Limit of rows deleted per resolution and round. A round adds at most one. */
const SWEEP_ROWS = 500;

/** Free pages that stay in the file for new rows: one megabyte. */
const FREE_PAGES_KEPT = 256;

type HistoryPoint = { timestamp: string } & Figures;

interface MetricsHistory {
  /** ISO 8601, UTC. */
  from: string;
  to: string;
  hours: number;
  resolutionSeconds: number;
  /** Oldest first. Times without samples have no point. */
  history: HistoryPoint[];
  summary: Record<SeriesName, Summary>;
}

/** State that is carried from one round to the next. */
export interface HostSamplerState {
  /** Processor time at the last sample. */
  cpuTime?: CpuTime;
  /** Unix seconds of the last stored sample. */
  ts?: number;
}

/**
 * Stores a sample of the host and updates the roll-ups, in one transaction, so that a crash neither
 * loses samples nor counts them twice.
 *
 * @returns Whether a sample was stored. Without a current host sample there is a gap in the
 * history.
 */
export function recordHostSample(
  { host, inventory, metrics, now }: Pick<Deps, "host" | "inventory" | "metrics" | "now">,
  state: HostSamplerState,
): boolean {
  const at = now().getTime();
  const sample = host.latest;
  if (!sample || at - Date.parse(sample.timestamp) > SAMPLE_AGE_MAX_MS) {
    delete state.cpuTime;
    return false;
  }
  const ts = Math.floor(at / 1000 / SAMPLE_S) * SAMPLE_S;
  // A timer may fire slightly early; the next one is on time.
  if (ts === state.ts) return false;

  // Averaged over the whole interval; the host sample covers only part of it.
  const cpuPercent = state.cpuTime && busyPercent(state.cpuTime, sample.cpuTime);
  state.cpuTime = sample.cpuTime;
  state.ts = ts;
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

/** Deletes expired rows, a limited number per round. */
export function sweepHistory({ metrics, now }: Pick<Deps, "metrics" | "now">): void {
  const at = Math.floor(now().getTime() / 1000);
  for (const resolution of RESOLUTIONS) {
    deleteMetricSamplesBefore(metrics, {
      hostId: LOCAL_HOST,
      resolution,
      before: at - RETENTION_S[resolution],
      rowsMax: SWEEP_ROWS,
    });
  }
  releaseFreePages(metrics, { keep: FREE_PAGES_KEPT });
}

/**
 * Reads the history of the host in the finest resolution within the limit of points.
 *
 * @throws {AppError} `invalid` for an empty window.
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
    cpuPercent: round2(point.cpuPercent),
    memoryPercent: round2(point.memoryPercent),
    diskPercent: round2(point.diskPercent),
    load1: round2(point.load1),
    containersRunning: round2(point.containersRunning),
    containersTotal: round2(point.containersTotal),
  };
}

const summaryOf = (points: readonly MetricPoint[], name: SeriesName): Summary =>
  name === "containersRunning" || name === "containersTotal"
    ? summarize(points, name, ({ engineSamples }) => engineSamples)
    : summarize(points, name);

/** Uptime and response time statistics, from outages and the roll-ups of checks. @module */

import { selectLatestCheck } from "../../../db/pro/uptime/latest.ts";
import { selectMonitor } from "../../../db/pro/uptime/monitors.ts";
import { type RollupResolution, selectRollups } from "../../../db/pro/uptime/rollups.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import { totalMs } from "./intervals.ts";
import { addHistogram, type Histogram, percentile } from "./response_histogram.ts";
import { loadHistory, type MonitorHistory } from "./history.ts";

const HOUR_MS = 60 * 60 * 1000;

/** The length of each window, and the roll-ups that it uses. */
const WINDOWS = {
  "24h": { ms: 24 * HOUR_MS, resolution: 900 },
  "7d": { ms: 7 * 24 * HOUR_MS, resolution: 3_600 },
  "30d": { ms: 30 * 24 * HOUR_MS, resolution: 3_600 },
} as const satisfies Record<string, { ms: number; resolution: RollupResolution }>;

type StatsWindow = keyof typeof WINDOWS;

/** The statistics of one window. */
export interface UptimeStats {
  /** Percent of the known time; `null` while nothing is known. */
  uptimePercent: number | null;
  /** Of the successful checks; `null` without any. */
  avgResponseTimeMs: number | null;
  p95ResponseTimeMs: number | null;
  totalChecks: number;
  totalDowntimeSeconds: number;
}

/** The result of the last check. */
interface LastState {
  isDown: boolean;
  /** Unix milliseconds. */
  checkedAt: number | undefined;
}

/**
 * Statistics of the last 24 hours, 7 days and 30 days. The windows of check counts are rounded to
 * quarters of an hour (24 hours) or hours; uptime is exact.
 *
 * @throws {AppError} `not_found`.
 */
export function getUptimeStats(
  deps: Pick<Deps, "db" | "metrics" | "now">,
  monitorId: string,
): Record<StatsWindow, UptimeStats> {
  if (!selectMonitor(deps.db, monitorId)) throw notFound("Monitor", monitorId);
  const to = deps.now();
  return {
    "24h": statsOf(deps, monitorId, "24h", to),
    "7d": statsOf(deps, monitorId, "7d", to),
    "30d": statsOf(deps, monitorId, "30d", to),
  };
}

/** The uptime of the last 24 hours by monitor ID. */
export function uptimeOfLastDay(
  deps: Pick<Deps, "db" | "metrics" | "now">,
  monitors: readonly ({ id: string } & LastState)[],
): Map<string, number | null> {
  const to = deps.now();
  const from = new Date(to.getTime() - WINDOWS["24h"].ms);
  const histories = loadHistory(deps, monitors.map(({ id }) => id), from, to);
  return new Map(
    monitors.map(({ id, ...last }) => [id, uptimePercent(histories.get(id)!, last, to)]),
  );
}

function statsOf(
  deps: Pick<Deps, "db" | "metrics">,
  monitorId: string,
  window: StatsWindow,
  to: Date,
): UptimeStats {
  const { db, metrics } = deps;
  const { ms, resolution } = WINDOWS[window];
  const from = new Date(to.getTime() - ms);
  const history = loadHistory(deps, [monitorId], from, to).get(monitorId)!;
  const histogram: Histogram = {};
  const sums = { checks: 0, timed: 0, ms: 0, max: 0 };
  for (const rollup of selectRollups(metrics, { monitorId, resolution, from: from.getTime() })) {
    sums.checks += rollup.checks;
    sums.timed += rollup.timed;
    sums.ms += rollup.responseMsSum;
    sums.max = Math.max(sums.max, rollup.responseMsMax);
    addHistogram(histogram, rollup.histogram);
  }
  const p95 = percentile(histogram, 0.95);
  return {
    uptimePercent: uptimePercent(history, {
      isDown: selectMonitor(db, monitorId)?.status === "down",
      checkedAt: selectLatestCheck(metrics, monitorId)?.checkedAt,
    }, to),
    avgResponseTimeMs: sums.timed === 0 ? null : Math.round(sums.ms / sums.timed),
    p95ResponseTimeMs: p95 === null ? null : Math.min(p95, sums.max),
    totalChecks: sums.checks,
    totalDowntimeSeconds: Math.round(totalMs(history.down) / 1000),
  };
}

/**
 * Uptime in percent of the known time, rounded down to four decimals, so that 100 means no
 * downtime. `null` while nothing is known.
 */
export function uptimeShare({ known, down }: MonitorHistory): number | null {
  const knownMs = totalMs(known);
  if (knownMs === 0) return null;
  const downMs = Math.min(knownMs, totalMs(down));
  return Math.floor(1e6 * (knownMs - downMs) / knownMs) / 1e4;
}

/** Like {@linkcode uptimeShare}, but uses the first check while there is no known time. */
function uptimePercent(
  history: MonitorHistory,
  { isDown, checkedAt }: LastState,
  to: Date,
): number | null {
  return uptimeShare(history) ?? (checkedAt === to.getTime() ? (isDown ? 0 : 100) : null);
}

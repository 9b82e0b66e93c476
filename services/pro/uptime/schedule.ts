/**
 * The schedule of checks. Each monitor has a fixed phase within its interval, so that checks are
 * spread evenly and a restart does not shift them.
 *
 * @module
 */

import { type LatestCheck, selectLatestChecks } from "../../../db/pro/uptime/latest.ts";
import { type MonitorSchedule, selectMonitorSchedules } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";

/** Limits of concurrent checks, and of those of monitors that failed last time. */
const RUNNING_MAX = 256;
const FAILING_MAX = 192;

/** Delay of a retry before a failure becomes an outage, in milliseconds. */
const RETRY_MS = 10_000;

/** Over how long the overdue checks after a restart are spread, in milliseconds. */
const CATCH_UP_MS = 30_000;

/**
 * IDs of the monitors to check now, the longest overdue first. Failing monitors get only a part of
 * the capacity, so that slow targets do not delay the others.
 *
 * @param startedAt When the prober started.
 */
export function dueMonitors(
  { db, metrics, checks, now }: Pick<Deps, "db" | "metrics" | "checks" | "now">,
  startedAt: Date,
): string[] {
  const nowMs = now().getTime();
  const latest = new Map(selectLatestChecks(metrics).map((check) => [check.monitorId, check]));
  let capacity = RUNNING_MAX;
  let failingCapacity = FAILING_MAX;
  const due: { id: string; dueMs: number; isFailing: boolean }[] = [];
  for (const schedule of selectMonitorSchedules(db)) {
    const { id } = schedule;
    const last = latest.get(id);
    const isFailing = (last?.failures ?? 0) > 0;
    if (checks.isRunning(id)) {
      capacity--;
      if (isFailing) failingCapacity--;
      continue;
    }
    const lastStartMs = checks.startedAt(id)?.getTime();
    const dueMs = calculateDueMs(schedule, last, {
      lastStartMs,
      proberStartMs: startedAt.getTime(),
      nowMs,
    });
    if (dueMs <= nowMs) due.push({ id, dueMs, isFailing });
  }
  return due
    .sort((a, b) => a.dueMs - b.dueMs)
    .filter(({ isFailing }) => {
      if (capacity <= 0 || (isFailing && failingCapacity <= 0)) return false;
      capacity--;
      if (isFailing) failingCapacity--;
      return true;
    })
    .map(({ id }) => id);
}

/**
 * When a monitor is due, in Unix milliseconds. A new, changed or resumed one is due immediately.
 *
 * @param last The last stored check.
 * @param times.lastStartMs The start of the last check by this process, whether or not it was
 * stored.
 */
export function calculateDueMs(
  { id, intervalSeconds, retries, status, updatedAt }: MonitorSchedule,
  last: Pick<LatestCheck, "checkedAt" | "failures"> | undefined,
  { lastStartMs, proberStartMs, nowMs }: {
    lastStartMs?: number | undefined;
    proberStartMs: number;
    nowMs: number;
  },
): number {
  const intervalMs = intervalSeconds * 1000;
  const phase = phaseMs(id, intervalSeconds);
  const lastMs = Math.max(last?.checkedAt ?? -Infinity, lastStartMs ?? -Infinity);
  const updatedMs = Math.min(Date.parse(updatedAt), nowMs);
  // The clock was set back: check now instead of waiting for the recorded time.
  if (lastMs > nowMs) return nowMs;
  if (lastMs < updatedMs && (lastMs === -Infinity || updatedMs < nowMs)) return updatedMs;

  const isRetry = last !== undefined && last.failures > 0 && last.failures <= retries &&
    status !== "down";
  const dueMs = isRetry
    ? lastMs + Math.min(intervalMs, RETRY_MS)
    : nextAtPhase(lastMs, phase, intervalMs);
  if (dueMs >= proberStartMs) return dueMs;
  const catchUpMs = proberStartMs + phase / intervalMs * CATCH_UP_MS;
  return Math.min(nextAtPhase(proberStartMs, phase, intervalMs), catchUpMs);
}

/** The phase of a monitor within its interval, in milliseconds (FNV-1a hash of its ID). */
export function phaseMs(id: string, intervalSeconds: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return Math.floor((hash >>> 0) / 2 ** 32 * intervalSeconds * 1000);
}

/** The first time after `afterMs` at the given phase. */
function nextAtPhase(afterMs: number, phase: number, intervalMs: number): number {
  return afterMs + intervalMs - (((afterMs - phase) % intervalMs) + intervalMs) % intervalMs;
}

/**
 * When each monitor is checked: at a place of its own within its interval, so that they are spread
 * over it, and so that a restart changes nothing.
 *
 * @module
 */

import { type LatestCheck, selectLatestChecks } from "../../../db/pro/uptime/latest.ts";
import { type MonitorSchedule, selectMonitorSchedules } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";

/** Most checks at a time, and most of them of monitors that failed the last time. */
const RUNNING_MAX = 256;
const TROUBLED_MAX = 192;

/** How soon a failure is looked at again while it is not yet an outage, in milliseconds. */
const RETRY_MS = 10_000;

/** After a standstill everything is due: over how long that is spread, in milliseconds. */
const CATCH_UP_MS = 30_000;

/**
 * Ids of the monitors to check now, the longest due first. One that is being checked is not among
 * them, and those in trouble get no more than a part of the places: they delay no other.
 *
 * @param aliveSince Since when there is somebody who checks.
 */
export function dueMonitors(
  { db, metrics, checks, now }: Pick<Deps, "db" | "metrics" | "checks" | "now">,
  aliveSince: Date,
): string[] {
  const nowMs = now().getTime();
  const latest = new Map(selectLatestChecks(metrics).map((check) => [check.monitorId, check]));
  let places = RUNNING_MAX;
  let troubledPlaces = TROUBLED_MAX;
  const due: { id: string; dueMs: number; isTroubled: boolean }[] = [];
  for (const schedule of selectMonitorSchedules(db)) {
    const { id } = schedule;
    const last = latest.get(id);
    const isTroubled = (last?.failures ?? 0) > 0;
    if (checks.isRunning(id)) {
      places--;
      if (isTroubled) troubledPlaces--;
      continue;
    }
    const startedMs = checks.startedAt(id)?.getTime();
    const dueMs = dueMsOf(schedule, last, { startedMs, aliveMs: aliveSince.getTime(), nowMs });
    if (dueMs <= nowMs) due.push({ id, dueMs, isTroubled });
  }
  return due
    .sort((a, b) => a.dueMs - b.dueMs)
    .filter(({ isTroubled }) => {
      if (places <= 0 || (isTroubled && troubledPlaces <= 0)) return false;
      places--;
      if (isTroubled) troubledPlaces--;
      return true;
    })
    .map(({ id }) => id);
}

/**
 * When a monitor is due; Unix milliseconds. One that is new, changed or resumed is due at once.
 *
 * @param last Its last check that could be stored.
 * @param at.startedMs When its last check of this process began, whether or not it was stored.
 */
export function dueMsOf(
  { id, intervalSeconds, retries, status, updatedAt }: MonitorSchedule,
  last: Pick<LatestCheck, "checkedAt" | "failures"> | undefined,
  { startedMs, aliveMs, nowMs }: {
    startedMs?: number | undefined;
    aliveMs: number;
    nowMs: number;
  },
): number {
  const intervalMs = intervalSeconds * 1000;
  const phase = phaseMs(id, intervalSeconds);
  const lastMs = Math.max(last?.checkedAt ?? -Infinity, startedMs ?? -Infinity);
  const updatedMs = Math.min(Date.parse(updatedAt), nowMs);
  // A clock that was set back must not silence a monitor.
  if (lastMs > nowMs) return nowMs;
  if (lastMs < updatedMs && (lastMs === -Infinity || updatedMs < nowMs)) return updatedMs;

  const isRetried = last !== undefined && last.failures > 0 && last.failures <= retries &&
    status !== "down";
  const dueMs = isRetried
    ? lastMs + Math.min(intervalMs, RETRY_MS)
    : nextAtPhase(lastMs, phase, intervalMs);
  if (dueMs >= aliveMs) return dueMs;
  const spreadMs = aliveMs + phase / intervalMs * CATCH_UP_MS;
  return Math.min(nextAtPhase(aliveMs, phase, intervalMs), spreadMs);
}

/** The place of a monitor within its interval, in milliseconds (FNV-1a of its id). */
export function phaseMs(id: string, intervalSeconds: number): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < id.length; i++) hash = Math.imul(hash ^ id.charCodeAt(i), 0x01000193);
  return Math.floor((hash >>> 0) / 2 ** 32 * intervalSeconds * 1000);
}

/** The first time after `afterMs` that lies at the place. */
function nextAtPhase(afterMs: number, phase: number, intervalMs: number): number {
  return afterMs + intervalMs - (((afterMs - phase) % intervalMs) + intervalMs) % intervalMs;
}

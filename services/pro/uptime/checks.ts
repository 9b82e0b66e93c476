/**
 * Checks of monitors: running a check, recording its result, and starting and ending outages.
 *
 * @module
 */

import type { Page, Paged } from "../../../db/page.ts";
import {
  insertMonitorGap,
  insertMonitorLife,
  type MonitorGap,
} from "../../../db/pro/uptime/monitor_times.ts";
import {
  insertOutage,
  selectOpenOutage,
  updateOutageResolved,
} from "../../../db/pro/uptime/outages.ts";
import {
  countChecks,
  deleteChecksOf,
  deleteOldChecks,
  insertCheck,
  selectChecks,
} from "../../../db/pro/uptime/checks.ts";
import {
  type LatestCheck,
  selectLatestCheck,
  selectLatestChecks,
  upsertLatestCheck,
} from "../../../db/pro/uptime/latest.ts";
import {
  selectMonitor,
  selectMonitors,
  type StoredMonitor,
  updateMonitorStatus,
} from "../../../db/pro/uptime/monitors.ts";
import {
  deleteRollupsBefore,
  ROLLUP_RESOLUTIONS,
  type RollupResolution,
  selectRollup,
  upsertRollup,
} from "../../../db/pro/uptime/rollups.ts";
import { checkedContainers } from "./checked_containers.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import type { MonitorResult } from "../../stream/monitor_results.ts";
import { AppError, notFound, requireFound } from "../../errors.ts";
import { yieldToEventLoop } from "../../waiting.ts";
import { probe, type ProbeDeps, type ProbeResult } from "./probe.ts";
import { openRequestOrConflict } from "./request.ts";
import { addTime } from "./response_histogram.ts";
import { isLate } from "./history.ts";
import { uptimeOfLastDay } from "./stats.ts";

/** Limits of the checks that are kept, by age in milliseconds and by number per monitor. */
const CHECK_RETENTION_MS = 7 * 24 * 60 * 60 * 1000;
const CHECKS_MAX = 10_000;

/** Time for which roll-ups are kept, in ms: a little longer than the windows of statistics. */
const ROLLUP_RETENTION_MS: Record<RollupResolution, number> = {
  900: 26 * 60 * 60 * 1000,
  3_600: 31 * 24 * 60 * 60 * 1000,
};

/** A check as returned by the API. */
export interface Check {
  monitorId: string;
  status: "up" | "down";
  responseTimeMs: number | null;
  statusCode: number | null;
  error: string | null;
  /** The start of the check; ISO 8601, UTC. */
  checkedAt: string;
}

type RecordDeps = EmitDeps & Pick<Deps, "metrics" | "monitorResults">;
type CheckDeps = RecordDeps & ProbeDeps & Pick<Deps, "checks" | "secrets">;

/**
 * Checks a monitor now, even if it is paused, and records the result. If a check is running, waits
 * for that one.
 *
 * @throws {AppError} `not_found`; `conflict` if the monitor is changed, paused or deleted during
 * the check, or its stored secrets cannot be decrypted.
 */
export async function checkMonitor(deps: CheckDeps, id: string): Promise<Check> {
  if (!selectMonitor(deps.db, id)) throw notFound("Monitor", id);
  return await deps.checks.run(id, (signal) => runCheck(deps, id, signal));
}

async function runCheck(deps: CheckDeps, id: string, signal: AbortSignal): Promise<Check> {
  const monitor = selectMonitor(deps.db, id)!;
  const target = { ...monitor, ...openRequestOrConflict(deps.secrets, monitor) };
  const at = deps.now();
  try {
    const result = await probe(deps, target, signal);
    signal.throwIfAborted();
    return recordCheck(deps, id, at, result);
  } catch (error) {
    if (!signal.aborted) throw error;
    throw new AppError("conflict", `Monitor ${id} changed during the check`);
  }
}

/**
 * Records a check. After `retries` + 1 failures in a row an outage is recorded, which began with
 * the first failure; the next successful check ends it. A paused monitor keeps its status.
 *
 * @param at The start of the check.
 * @throws {AppError} `not_found`.
 */
export function recordCheck(deps: RecordDeps, id: string, at: Date, result: ProbeResult): Check {
  const { db, metrics } = deps;
  const monitor = requireFound(selectMonitor(db, id), "Monitor", id);
  const before = selectLatestCheck(metrics, id);
  const hasGap = before !== undefined && isLate(before, at);
  // The known time begins with the first check. A late check leaves a gap before it.
  if (!before) insertMonitorLife(db, id, at.toISOString());
  if (hasGap) insertMonitorGap(db, unknownGap(before, at));

  // Failures before and after a gap are not in a row.
  const failures = result.ok || monitor.paused ? 0 : hasGap ? 1 : (before?.failures ?? 0) + 1;
  const failingSince = failures === 0
    ? null
    : Math.min(failures > 1 ? before?.failingSince ?? Infinity : Infinity, at.getTime());
  metrics.transaction(() => {
    insertCheck(metrics, { monitorId: id, checkedAt: at.getTime(), ...result });
    for (const resolution of ROLLUP_RESOLUTIONS) addToRollup(deps, id, resolution, at, result);
    upsertLatestCheck(metrics, {
      monitorId: id,
      checkedAt: at.getTime(),
      knownUntil: at.getTime() + monitor.intervalSeconds * 1000,
      responseTimeMs: result.responseTimeMs,
      failures,
      failingSince,
    });
  });
  if (!monitor.paused) updateStatus(deps, monitor, { at, result, failures, failingSince });
  const check = toCheck({ monitorId: id, checkedAt: at.getTime(), ...result });
  deps.monitorResults.record(resultOf(deps, check));
  return check;
}

/** The checks of a monitor, newest first. @throws {AppError} `not_found`. */
export function listChecks(
  { db, metrics }: Pick<Deps, "db" | "metrics">,
  monitorId: string,
  page: Page,
): { checks: Check[] } & Paged {
  if (!selectMonitor(db, monitorId)) throw notFound("Monitor", monitorId);
  return {
    checks: selectChecks(metrics, { monitorId, ...page }).map(toCheck),
    total: countChecks(metrics, monitorId),
    ...page,
  };
}

/** Deletes old checks and roll-ups; yields to the event loop after each monitor. */
export async function sweepChecks(
  { db, metrics, now }: Pick<Deps, "db" | "metrics" | "now">,
): Promise<void> {
  const atMs = now().getTime();
  const known = new Set(selectMonitors(db).map(({ id }) => id));
  for (const { monitorId } of selectLatestChecks(metrics)) {
    if (known.has(monitorId)) {
      const before = atMs - CHECK_RETENTION_MS;
      deleteOldChecks(metrics, { monitorId, before, keptMax: CHECKS_MAX });
      for (const resolution of ROLLUP_RESOLUTIONS) {
        const before = atMs - ROLLUP_RETENTION_MS[resolution];
        deleteRollupsBefore(metrics, { monitorId, resolution, before });
      }
    } else {
      // The service crashed after deleting the monitor and before deleting its checks.
      metrics.transaction(() => deleteChecksOf(metrics, monitorId));
    }
    await yieldToEventLoop();
  }
}

/** The gap from the time at which the check after `last` was due. */
export function unknownGap({ monitorId, knownUntil }: LatestCheck, until: Date): MonitorGap {
  return {
    monitorId,
    startedAt: new Date(knownUntil).toISOString(),
    endedAt: until.toISOString(),
    reason: "unknown",
  };
}

function addToRollup(
  { metrics }: Pick<Deps, "metrics">,
  monitorId: string,
  resolution: RollupResolution,
  at: Date,
  { ok, responseTimeMs }: ProbeResult,
): void {
  const ts = at.getTime() - at.getTime() % (resolution * 1000);
  const before = selectRollup(metrics, { monitorId, resolution, ts });
  const ms = ok ? responseTimeMs : null;
  const histogram = before?.histogram ?? {};
  if (ms !== null) addTime(histogram, ms);
  upsertRollup(metrics, {
    monitorId,
    resolution,
    ts,
    checks: (before?.checks ?? 0) + 1,
    timed: (before?.timed ?? 0) + Number(ms !== null),
    responseMsSum: (before?.responseMsSum ?? 0) + (ms ?? 0),
    responseMsMax: Math.max(before?.responseMsMax ?? 0, ms ?? 0),
    histogram,
  });
}

/** Updates the monitor's status, and starts or ends an outage. */
function updateStatus(
  deps: RecordDeps,
  { id, name, status, retries, ...target }: StoredMonitor,
  { at, result, failures, failingSince }: {
    at: Date;
    result: ProbeResult;
    failures: number;
    failingSince: number | null;
  },
): void {
  const { db } = deps;
  if (!result.ok && status !== "down" && failures > retries) {
    const outage = {
      id: crypto.randomUUID(),
      monitorId: id,
      monitorName: name,
      cause: result.error ?? "The check failed",
      startedAt: new Date(failingSince ?? at).toISOString(),
      resolvedAt: null,
    };
    const data = {
      monitor: name,
      monitorId: id,
      outageId: outage.id,
      cause: outage.cause,
      ...checkedContainers(deps, target),
    };
    emit(deps, "monitor.down", data, () => {
      insertOutage(db, outage);
      updateMonitorStatus(db, id, "down");
    });
  }
  if (result.ok && status === "pending") updateMonitorStatus(db, id, "up");
  if (result.ok && status === "down") {
    const outage = selectOpenOutage(db, id);
    if (!outage) return void updateMonitorStatus(db, id, "up");
    const downMs = Math.max(0, at.getTime() - Date.parse(outage.startedAt));
    emit(deps, "monitor.up", {
      monitor: name,
      monitorId: id,
      outageId: outage.id,
      ...checkedContainers(deps, target),
      downtimeSeconds: Math.round(downMs / 1000),
    }, () => {
      updateOutageResolved(db, outage.id, at.toISOString());
      updateMonitorStatus(db, id, "up");
    });
  }
}

/** Returns the result of a check for the event stream. */
function resultOf(deps: RecordDeps, check: Check): MonitorResult {
  const { paused, status } = selectMonitor(deps.db, check.monitorId)!;
  const last = { isDown: status === "down", checkedAt: Date.parse(check.checkedAt) };
  return {
    monitor_id: check.monitorId,
    status: check.status,
    response_time_ms: check.responseTimeMs,
    status_code: check.statusCode,
    error: check.error,
    checked_at: check.checkedAt,
    monitor_status: paused ? "paused" : status,
    uptime_24h: uptimeOfLastDay(deps, [{ id: check.monitorId, ...last }]).get(check.monitorId)!,
  };
}

const toCheck = (
  { monitorId, ok, responseTimeMs, statusCode, error, checkedAt }:
    & ProbeResult
    & { monitorId: string; checkedAt: number },
): Check => ({
  monitorId,
  status: ok ? "up" : "down",
  responseTimeMs,
  statusCode,
  error,
  checkedAt: new Date(checkedAt).toISOString(),
});

/** Uptime monitors: create, change, pause, resume and delete. @module */

import {
  insertMonitorGap,
  updateMonitorLifeDeleted,
  updateOpenGapEnded,
} from "../../../db/pro/uptime/monitor_times.ts";
import { selectOpenOutage, updateOutageResolved } from "../../../db/pro/uptime/outages.ts";
import { deleteChecksOf } from "../../../db/pro/uptime/checks.ts";
import {
  type LatestCheck,
  resetFailures,
  selectLatestCheck,
  selectLatestChecks,
} from "../../../db/pro/uptime/latest.ts";
import {
  type CheckedStatus,
  countMonitors,
  deleteMonitor,
  insertMonitor,
  selectMonitor,
  selectMonitors,
  type StoredMonitor,
  updateMonitor,
  updateMonitorPaused,
} from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import { REDACTED } from "../../text/redact.ts";
import { redactedHeaders } from "../../outbound/secret_headers.ts";
import { openIfPossible } from "../../secrets/secrets.ts";
import { type MonitorRequest, openRequest } from "./request.ts";
import {
  assertTargetAllowed,
  type MonitorChange,
  monitorSettings,
  type NewMonitor,
} from "./settings.ts";
import { unknownGap } from "./checks.ts";
import { isLate } from "./history.ts";
import { uptimeOfLastDay } from "./stats.ts";

export { MONITOR_TYPES } from "../../../db/pro/uptime/monitors.ts";

/** A monitor as returned by the API: header values and the body are redacted. */
export interface Monitor extends Omit<StoredMonitor, "sealed" | "paused" | "status"> {
  headers: Record<string, string>;
  body: string | null;
  status: CheckedStatus | "paused";
  /** ISO 8601, UTC; `null` before the first check. */
  lastCheckedAt: string | null;
  /** `null` without a response. */
  lastResponseTimeMs: number | null;
  /** Percent of the known time of the last 24 hours; `null` while nothing is known. */
  uptime24h: number | null;
}

type ReadDeps = Pick<Deps, "db" | "metrics" | "secrets" | "now">;
type WriteDeps = ReadDeps & OutboundDeps & Pick<Deps, "checks" | "license" | "log">;

/** All monitors by name. */
export function listMonitors(deps: ReadDeps): Monitor[] {
  const latest = new Map(selectLatestChecks(deps.metrics).map((check) => [check.monitorId, check]));
  return toMonitors(deps, selectMonitors(deps.db), latest);
}

/** @throws {AppError} `not_found`. */
export function getMonitor(deps: ReadDeps, id: string): Monitor {
  const latest = selectLatestCheck(deps.metrics, id);
  return toMonitors(deps, [requireMonitor(deps.db, id)], new Map(latest && [[id, latest]]))[0]!;
}

/**
 * Stores a new monitor. Its first check starts immediately.
 *
 * @throws {AppError} `invalid` for a target that does not fit the type or is not allowed, and for
 * a field that the type does not have.
 * @throws {LimitError} When the edition allows no more monitors.
 */
export async function createMonitor(deps: WriteDeps, input: NewMonitor): Promise<Monitor> {
  const { db, license, now, log } = deps;
  const at = now().toISOString();
  const id = crypto.randomUUID();
  const monitor: StoredMonitor = {
    id,
    ...monitorSettings(deps, id, input, undefined),
    paused: false,
    status: "pending",
    createdAt: at,
    updatedAt: at,
  };
  await assertTargetAllowed(deps, monitor);
  // No await from here on: another request may have created a monitor.
  assertBelowLimit(license, "uptime_monitors", countMonitors(db));
  insertMonitor(db, monitor);
  log.info("monitor created", { monitorId: id, type: monitor.type });
  return getMonitor(deps, id);
}

/**
 * Changes the given fields. Headers are replaced as a whole; the value `"********"` keeps the stored
 * one, unless it would be sent to a different origin. A running check is aborted, and a new one
 * starts immediately.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one; `conflict` if the stored secrets
 * cannot be decrypted.
 */
export async function changeMonitor(
  deps: WriteDeps,
  id: string,
  change: MonitorChange,
): Promise<Monitor> {
  const { db, checks, now, log } = deps;
  await assertTargetAllowed(deps, monitorSettings(deps, id, change, requireMonitor(db, id)));
  // Read again: another request may have changed or deleted the monitor.
  const monitor = requireMonitor(db, id);
  const next = monitorSettings(deps, id, change, monitor);
  checks.stop(id);
  updateMonitor(db, { ...monitor, ...next, updatedAt: now().toISOString() });
  log.info("monitor changed", { monitorId: id });
  return getMonitor(deps, id);
}

/**
 * Pauses a monitor. The time until it is resumed counts neither as up nor as down. An open outage
 * stays open until a check succeeds.
 *
 * @throws {AppError} `not_found`.
 */
export function pauseMonitor(deps: WriteDeps, id: string): Monitor {
  const { db, metrics, checks, now, log } = deps;
  const monitor = requireMonitor(db, id);
  if (monitor.paused) return getMonitor(deps, id);
  const at = now();
  checks.stop(id);
  const last = selectLatestCheck(metrics, id);
  db.transaction(() => {
    if (last && isLate(last, at)) insertMonitorGap(db, unknownGap(last, at));
    insertMonitorGap(db, {
      monitorId: id,
      startedAt: at.toISOString(),
      endedAt: null,
      reason: "paused",
    });
    updateMonitorPaused(db, {
      id,
      paused: true,
      status: monitor.status,
      updatedAt: at.toISOString(),
    });
  });
  resetFailures(metrics, id);
  log.info("monitor paused", { monitorId: id });
  return getMonitor(deps, id);
}

/**
 * Resumes a monitor. A check starts immediately.
 *
 * @throws {AppError} `not_found`.
 */
export function resumeMonitor(deps: WriteDeps, id: string): Monitor {
  const { db, checks, now, log } = deps;
  const monitor = requireMonitor(db, id);
  if (!monitor.paused) return getMonitor(deps, id);
  const at = now().toISOString();
  checks.stop(id);
  db.transaction(() => {
    updateOpenGapEnded(db, id, at);
    updateMonitorPaused(db, {
      id,
      paused: false,
      // A monitor that was up may be down now; one that was down stays so until a check succeeds.
      status: monitor.status === "up" ? "pending" : monitor.status,
      updatedAt: at,
    });
  });
  log.info("monitor resumed", { monitorId: id });
  return getMonitor(deps, id);
}

/**
 * Deletes a monitor with its checks and ends an open outage. Outages and gaps are kept for SLAs.
 *
 * @throws {AppError} `not_found`.
 */
export function removeMonitor(
  { db, metrics, checks, now, log }: Pick<Deps, "db" | "metrics" | "checks" | "now" | "log">,
  id: string,
): void {
  requireMonitor(db, id);
  const at = now();
  checks.stop(id);
  const last = selectLatestCheck(metrics, id);
  db.transaction(() => {
    if (last && isLate(last, at)) insertMonitorGap(db, unknownGap(last, at));
    const outage = selectOpenOutage(db, id);
    if (outage) updateOutageResolved(db, outage.id, at.toISOString());
    updateOpenGapEnded(db, id, at.toISOString());
    updateMonitorLifeDeleted(db, id, at.toISOString());
    deleteMonitor(db, id);
  });
  metrics.transaction(() => deleteChecksOf(metrics, id));
  log.info("monitor deleted", { monitorId: id });
}

function toMonitors(
  deps: ReadDeps,
  monitors: readonly StoredMonitor[],
  latest: ReadonlyMap<string, LatestCheck>,
): Monitor[] {
  const uptimes = uptimeOfLastDay(
    deps,
    monitors.map(({ id, status }) => ({
      id,
      isDown: status === "down",
      checkedAt: latest.get(id)?.checkedAt,
    })),
  );
  return monitors.map(({ sealed, paused, ...monitor }) => {
    const last = latest.get(monitor.id);
    return {
      ...monitor,
      ...redactRequest(deps.secrets, { id: monitor.id, sealed }),
      status: paused ? "paused" : monitor.status,
      lastCheckedAt: last ? new Date(last.checkedAt).toISOString() : null,
      lastResponseTimeMs: last?.responseTimeMs ?? null,
      uptime24h: uptimes.get(monitor.id) ?? null,
    };
  });
}

/** A monitor whose secrets cannot be decrypted is still listed, so that it can be deleted. */
function redactRequest(
  secrets: Deps["secrets"],
  monitor: Pick<StoredMonitor, "id" | "sealed">,
): MonitorRequest {
  const request = openIfPossible(() => openRequest(secrets, monitor));
  return {
    headers: redactedHeaders(request?.headers ?? {}),
    body: request?.body === null ? null : REDACTED,
  };
}

function requireMonitor(db: Deps["db"], id: string): StoredMonitor {
  return requireFound(selectMonitor(db, id), "Monitor", id);
}

/**
 * Uptime monitors: what is checked, and how.
 *
 * @module
 */

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
import { notFound } from "../../errors.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import type { OutboundDeps } from "../../outbound/url.ts";
import { REDACTED } from "../../redact.ts";
import { redactedHeaders } from "../../outbound/secret_headers.ts";
import { SealError } from "../../secrets.ts";
import { type MonitorRequest, openRequest } from "./request.ts";
import {
  assertReachable,
  type MonitorChange,
  monitorSettings,
  type NewMonitor,
} from "./settings.ts";
import { unknownGap } from "./checks.ts";
import { isLate } from "./history.ts";
import { uptimeOfLastDay } from "./stats.ts";

export { MONITOR_TYPES } from "../../../db/pro/uptime/monitors.ts";

/** One monitor as shown: values of headers, and the body, are redacted. */
export interface Monitor extends Omit<StoredMonitor, "sealed" | "paused" | "status"> {
  headers: Record<string, string>;
  body: string | null;
  status: CheckedStatus | "paused";
  /** ISO 8601, UTC; `null` before the first check. */
  lastCheckedAt: string | null;
  /** `null` where no answer came. */
  lastResponseTimeMs: number | null;
  /** Percent of the known time of the last 24 hours; `null` while nothing is known. */
  uptime24h: number | null;
}

type ReadDeps = Pick<Deps, "db" | "metrics" | "secrets" | "now">;
type WriteDeps = ReadDeps & OutboundDeps & Pick<Deps, "checks" | "license" | "log">;

/** All monitors by name. */
export function listMonitors(deps: ReadDeps): Monitor[] {
  const latest = new Map(selectLatestChecks(deps.metrics).map((each) => [each.monitorId, each]));
  return views(deps, selectMonitors(deps.db), latest);
}

/** @throws {AppError} `not_found`. */
export function getMonitor(deps: ReadDeps, id: string): Monitor {
  const latest = selectLatestCheck(deps.metrics, id);
  return views(deps, [existing(deps.db, id)], new Map(latest && [[id, latest]]))[0]!;
}

/**
 * Stores a new monitor. It is checked at once.
 *
 * @throws {AppError} `invalid` for a target that is none of its type or may not be reached, and
 * for what a monitor of its type does not have.
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
  await assertReachable(deps, monitor);
  // No await from here on: others may have come meanwhile.
  assertBelowLimit(license, "uptime_monitors", countMonitors(db));
  insertMonitor(db, monitor);
  log.info("monitor created", { monitorId: id, type: monitor.type });
  return getMonitor(deps, id);
}

/**
 * Changes what is given and keeps the rest. Headers are replaced as a whole; a value that is sent
 * back as `"********"` stays as it is, unless it would be sent to another origin than before. A
 * check that is under way is given up, a new one begins at once.
 *
 * @throws {AppError} `not_found`; `invalid` as for a new one; `conflict` when its stored secrets
 * cannot be read.
 */
export async function changeMonitor(
  deps: WriteDeps,
  id: string,
  change: MonitorChange,
): Promise<Monitor> {
  const { db, checks, now, log } = deps;
  await assertReachable(deps, monitorSettings(deps, id, change, existing(db, id)));
  // Anew, for it may have changed or gone meanwhile.
  const monitor = existing(db, id);
  const next = monitorSettings(deps, id, change, monitor);
  checks.stop(id);
  updateMonitor(db, { ...monitor, ...next, updatedAt: now().toISOString() });
  log.info("monitor changed", { monitorId: id });
  return getMonitor(deps, id);
}

/**
 * Pauses a monitor; the time until it is resumed counts neither as up nor as down. An open outage
 * stays open until a check says otherwise.
 *
 * @throws {AppError} `not_found`.
 */
export function pauseMonitor(deps: WriteDeps, id: string): Monitor {
  const { db, metrics, checks, now, log } = deps;
  const monitor = existing(db, id);
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
 * Ends a pause; the monitor is checked at once.
 *
 * @throws {AppError} `not_found`.
 */
export function resumeMonitor(deps: WriteDeps, id: string): Monitor {
  const { db, checks, now, log } = deps;
  const monitor = existing(db, id);
  if (!monitor.paused) return getMonitor(deps, id);
  const at = now().toISOString();
  checks.stop(id);
  db.transaction(() => {
    updateOpenGapEnded(db, id, at);
    updateMonitorPaused(db, {
      id,
      paused: false,
      // What was up before need not be so now; what was down is, until a check says otherwise.
      status: monitor.status === "up" ? "pending" : monitor.status,
      updatedAt: at,
    });
  });
  log.info("monitor resumed", { monitorId: id });
  return getMonitor(deps, id);
}

/**
 * Deletes a monitor with its checks. Its outages, and the times of which nothing is known, are kept
 * for the agreements that it was part of; an open outage ends.
 *
 * @throws {AppError} `not_found`.
 */
export function removeMonitor(
  { db, metrics, checks, now, log }: Pick<Deps, "db" | "metrics" | "checks" | "now" | "log">,
  id: string,
): void {
  existing(db, id);
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

function views(
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
      ...redacted(deps.secrets, { id: monitor.id, sealed }),
      status: paused ? "paused" : monitor.status,
      lastCheckedAt: last ? new Date(last.checkedAt).toISOString() : null,
      lastResponseTimeMs: last?.responseTimeMs ?? null,
      uptime24h: uptimes.get(monitor.id) ?? null,
    };
  });
}

/** One whose secrets cannot be read is still listed, so that it can be deleted. */
function redacted(
  secrets: Deps["secrets"],
  monitor: Pick<StoredMonitor, "id" | "sealed">,
): MonitorRequest {
  try {
    const { headers, body } = openRequest(secrets, monitor);
    return {
      headers: redactedHeaders(headers),
      body: body === null ? null : REDACTED,
    };
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return { headers: {}, body: REDACTED };
  }
}

function existing(db: Deps["db"], id: string): StoredMonitor {
  const monitor = selectMonitor(db, id);
  if (!monitor) throw notFound("Monitor", id);
  return monitor;
}

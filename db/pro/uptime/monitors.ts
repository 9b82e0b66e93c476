/** The `uptime_monitors` table: targets to check, how to check them, and their status. @module */

import { boolean, number, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

export const MONITOR_TYPES = ["http", "tcp", "dns"] as const;
export type MonitorType = (typeof MONITOR_TYPES)[number];

/** The result of the checks of a monitor; `pending` until there is one. */
const CHECKED_STATUSES = ["up", "down", "pending"] as const;
export type CheckedStatus = (typeof CHECKED_STATUSES)[number];

const monitors = table("uptime_monitors", {
  id: text(),
  name: text(),
  type: text<MonitorType>(),
  /** http: a URL, tcp: `host:port`, dns: the name to look up. */
  url: text(),
  /** http only, like the next two. */
  method: text<string | null>(),
  /** Numbers and ranges, e.g. `200-299,301`. */
  expectedStatus: text<string | null>(),
  keyword: text<string | null>(),
  /** dns only, like the next. */
  recordType: text<string | null>(),
  expected: text<string | null>(),
  timeoutMs: number(),
  intervalSeconds: number(),
  retries: number(),
  /** Headers and body, encrypted; `null` without either. */
  sealed: text<string | null>(),
  autoIncident: boolean(),
  paused: boolean(),
  /** Unchanged while the monitor is paused. */
  status: text<CheckedStatus>(),
  createdAt: text(),
  /** Time of the last change, pause or resume. */
  updatedAt: text(),
}, { order: "name COLLATE NOCASE, id" });

/** One monitor as stored. Times are ISO 8601, UTC. */
export type StoredMonitor = Row<typeof monitors>;

/** When to check a monitor. */
export type MonitorSchedule = Pick<
  StoredMonitor,
  "id" | "intervalSeconds" | "retries" | "status" | "updatedAt"
>;

export const {
  find: selectMonitor,
  count: countMonitors,
  insert: insertMonitor,
  delete: deleteMonitor,
  /** All monitors by name. */
  all: selectMonitors,
} = monitors;

/** The schedules of monitors that are not paused. */
export function selectMonitorSchedules(db: Database): MonitorSchedule[] {
  return db.all<MonitorSchedule>(
    `SELECT id, interval_seconds AS intervalSeconds, retries, status, updated_at AS updatedAt
     FROM uptime_monitors WHERE paused = 0`,
  );
}

/** Stores everything but `status` and `paused`. @returns Whether the id was known. */
export function updateMonitor(
  db: Database,
  { status: _, paused: __, ...monitor }: StoredMonitor,
): boolean {
  return monitors.update(db, monitor.id, monitor);
}

/** @returns Whether the id was known. */
export function updateMonitorStatus(db: Database, id: string, status: CheckedStatus): boolean {
  return monitors.update(db, id, { status });
}

/** @returns Whether the id was known. */
export function updateMonitorPaused(
  db: Database,
  { id, paused, status, updatedAt }: Pick<
    StoredMonitor,
    "id" | "paused" | "status" | "updatedAt"
  >,
): boolean {
  return monitors.update(db, id, { paused, status, updatedAt });
}

/**
 * The `uptime_monitors` table: what is checked, how, and what the checks came to.
 *
 * @module
 */

import type { Database } from "../../database.ts";

export const MONITOR_TYPES = ["http", "tcp", "dns"] as const;
export type MonitorType = (typeof MONITOR_TYPES)[number];

/** What the checks of a monitor came to; `pending` until they came to anything. */
export const CHECKED_STATUSES = ["up", "down", "pending"] as const;
export type CheckedStatus = (typeof CHECKED_STATUSES)[number];

/** One monitor as stored. Times are ISO 8601, UTC. */
export interface StoredMonitor {
  id: string;
  name: string;
  type: MonitorType;
  /** http: a URL, tcp: `host:port`, dns: the name to look up. */
  url: string;
  /** Of http only, like the next two. */
  method: string | null;
  /** Numbers and ranges, e.g. `200-299,301`. */
  expectedStatus: string | null;
  keyword: string | null;
  /** Of dns only, like the next. */
  recordType: string | null;
  expected: string | null;
  timeoutMs: number;
  intervalSeconds: number;
  retries: number;
  /** Headers and body, encrypted; `null` where there are neither. */
  sealed: string | null;
  autoIncident: boolean;
  paused: boolean;
  /** A paused one keeps it. */
  status: CheckedStatus;
  createdAt: string;
  /** When it was last changed, paused or resumed. */
  updatedAt: string;
}

/** When to check a monitor. */
export type MonitorSchedule = Pick<
  StoredMonitor,
  "id" | "intervalSeconds" | "retries" | "status" | "updatedAt"
>;

const COLUMNS = `
  id, name, type, url, method, expected_status AS expectedStatus, keyword,
  record_type AS recordType, expected, timeout_ms AS timeoutMs,
  interval_seconds AS intervalSeconds, retries, sealed, auto_incident AS autoIncident, paused,
  status, created_at AS createdAt, updated_at AS updatedAt`;

type Row = Omit<StoredMonitor, "autoIncident" | "paused"> & {
  autoIncident: number;
  paused: number;
};

const fromRow = (row: Row): StoredMonitor => ({
  ...row,
  autoIncident: row.autoIncident === 1,
  paused: row.paused === 1,
});

const toParams = (monitor: StoredMonitor) => ({
  ...monitor,
  autoIncident: Number(monitor.autoIncident),
  paused: Number(monitor.paused),
});

/** All monitors by name. */
export function selectMonitors(db: Database): StoredMonitor[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM uptime_monitors ORDER BY name, id`).map(fromRow);
}

/** One monitor, or `undefined` when the id is unknown. */
export function selectMonitor(db: Database, id: string): StoredMonitor | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM uptime_monitors WHERE id = :id`, { id });
  return row && fromRow(row);
}

export function countMonitors(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM uptime_monitors")!.n;
}

/** Of the monitors that are not paused. */
export function selectMonitorSchedules(db: Database): MonitorSchedule[] {
  return db.all<MonitorSchedule>(
    `SELECT id, interval_seconds AS intervalSeconds, retries, status, updated_at AS updatedAt
     FROM uptime_monitors WHERE paused = 0`,
  );
}

export function insertMonitor(db: Database, monitor: StoredMonitor): void {
  db.run(
    `INSERT INTO uptime_monitors
       (id, name, type, url, method, expected_status, keyword, record_type, expected, timeout_ms,
        interval_seconds, retries, sealed, auto_incident, paused, status, created_at, updated_at)
     VALUES
       (:id, :name, :type, :url, :method, :expectedStatus, :keyword, :recordType, :expected,
        :timeoutMs, :intervalSeconds, :retries, :sealed, :autoIncident, :paused, :status,
        :createdAt, :updatedAt)`,
    toParams(monitor),
  );
}

/** Changes everything but `status`, `paused` and `createdAt`. @returns Whether the id was known. */
export function updateMonitor(db: Database, monitor: StoredMonitor): boolean {
  const { status: _status, paused: _paused, createdAt: _createdAt, ...params } = toParams(monitor);
  return db.run(
    `UPDATE uptime_monitors
     SET name = :name, type = :type, url = :url, method = :method,
         expected_status = :expectedStatus, keyword = :keyword, record_type = :recordType,
         expected = :expected, timeout_ms = :timeoutMs, interval_seconds = :intervalSeconds,
         retries = :retries, sealed = :sealed, auto_incident = :autoIncident,
         updated_at = :updatedAt
     WHERE id = :id`,
    params,
  ) > 0;
}

/** @returns Whether the id was known. */
export function updateMonitorStatus(db: Database, id: string, status: CheckedStatus): boolean {
  return db.run("UPDATE uptime_monitors SET status = :status WHERE id = :id", { id, status }) > 0;
}

/** @returns Whether the id was known. */
export function updateMonitorPaused(
  db: Database,
  { id, paused, status, updatedAt }: Pick<
    StoredMonitor,
    "id" | "paused" | "status" | "updatedAt"
  >,
): boolean {
  return db.run(
    `UPDATE uptime_monitors SET paused = :paused, status = :status, updated_at = :updatedAt
     WHERE id = :id`,
    { id, paused: Number(paused), status, updatedAt },
  ) > 0;
}

/** @returns Whether the id was known. */
export function deleteMonitor(db: Database, id: string): boolean {
  return db.run("DELETE FROM uptime_monitors WHERE id = :id", { id }) > 0;
}

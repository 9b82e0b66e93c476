/**
 * The `uptime_checks` table: each check as it was.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** One check as stored. */
export interface UptimeCheck {
  monitorId: string;
  /** When it began; Unix milliseconds. */
  checkedAt: number;
  ok: boolean;
  /** `null` where no answer came. */
  responseTimeMs: number | null;
  /** Of an HTTP answer. */
  statusCode: number | null;
  /** A sentence; `null` for a good one. */
  error: string | null;
}

type Row = Omit<UptimeCheck, "ok"> & { ok: number };

export function insertCheck(db: Database, check: UptimeCheck): void {
  db.run(
    `INSERT INTO uptime_checks
       (monitor_id, checked_at, n, ok, response_time_ms, status_code, error)
     VALUES
       (:monitorId, :checkedAt,
        (SELECT count(*) FROM uptime_checks
         WHERE monitor_id = :monitorId AND checked_at = :checkedAt),
        :ok, :responseTimeMs, :statusCode, :error)`,
    { ...check, ok: Number(check.ok) },
  );
}

/** Of one monitor, newest first. */
export function selectChecks(
  db: Database,
  { monitorId, limit, offset }: { monitorId: string; limit: number; offset: number },
): UptimeCheck[] {
  return db.all<Row>(
    `SELECT monitor_id AS monitorId, checked_at AS checkedAt, ok,
            response_time_ms AS responseTimeMs, status_code AS statusCode, error
     FROM uptime_checks WHERE monitor_id = :monitorId
     ORDER BY checked_at DESC, n DESC LIMIT :limit OFFSET :offset`,
    { monitorId, limit, offset },
  ).map((row) => ({ ...row, ok: row.ok === 1 }));
}

export function countChecks(db: Database, monitorId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM uptime_checks WHERE monitor_id = :monitorId",
    { monitorId },
  )!.n;
}

/** Deletes what is older than `before`, and all but the newest `keptMax`, of one monitor. */
export function deleteOldChecks(
  db: Database,
  { monitorId, before, keptMax }: { monitorId: string; before: number; keptMax: number },
): number {
  return db.run(
    `DELETE FROM uptime_checks
     WHERE monitor_id = :monitorId
       AND checked_at < max(:before, coalesce(
         (SELECT checked_at FROM uptime_checks WHERE monitor_id = :monitorId
          ORDER BY checked_at DESC LIMIT 1 OFFSET :keptMax - 1), 0))`,
    { monitorId, before, keptMax },
  );
}

/** Deletes everything that is kept of the checks of a monitor. */
export function deleteChecksOf(db: Database, monitorId: string): void {
  db.run("DELETE FROM uptime_checks WHERE monitor_id = :monitorId", { monitorId });
  db.run("DELETE FROM uptime_rollups WHERE monitor_id = :monitorId", { monitorId });
  db.run("DELETE FROM uptime_latest WHERE monitor_id = :monitorId", { monitorId });
}

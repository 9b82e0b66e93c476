/** The `uptime_checks` table: the result of each check. @module */

import { boolean, number, type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { Page } from "../../page.ts";

const checks = table("uptime_checks", {
  monitorId: text(),
  /** Start of the check; Unix milliseconds. */
  checkedAt: number(),
  ok: boolean(),
  /** `null` without a response. */
  responseTimeMs: number<number | null>(),
  /** HTTP status of the response. */
  statusCode: number<number | null>(),
  /** A sentence; `null` for a successful check. */
  error: text<string | null>(),
}, { order: "checked_at DESC, n DESC" });

/** One check as stored. */
type UptimeCheck = Row<typeof checks>;

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

/** The checks of one monitor, newest first. */
export function selectChecks(
  db: Database,
  { monitorId, limit, offset }: Page & { monitorId: string },
): UptimeCheck[] {
  return checks.page(db, { limit, offset }, `WHERE monitor_id = :monitorId`, { monitorId });
}

export function countChecks(db: Database, monitorId: string): number {
  return checks.countWhere(db, "WHERE monitor_id = :monitorId", { monitorId });
}

/** Deletes the checks of a monitor that are older than `before` or beyond the newest `keep`. */
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

/** Deletes the checks of a monitor and everything derived from them. */
export function deleteChecksOf(db: Database, monitorId: string): void {
  db.run("DELETE FROM uptime_checks WHERE monitor_id = :monitorId", { monitorId });
  db.run("DELETE FROM uptime_rollups WHERE monitor_id = :monitorId", { monitorId });
  db.run("DELETE FROM uptime_latest WHERE monitor_id = :monitorId", { monitorId });
}

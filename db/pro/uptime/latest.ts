/**
 * The `uptime_latest` table: the last check of each monitor, from which a restart goes on.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** Times are Unix milliseconds. */
export interface LatestCheck {
  monitorId: string;
  checkedAt: number;
  /** When the next one was due: until then the monitor's state counts as known. */
  knownUntil: number;
  /** `null` where no answer came. */
  responseTimeMs: number | null;
  /** Failed checks in a row, this one included. */
  failures: number;
  /** The first of them; `null` after a good one. */
  failingSince: number | null;
}

const COLUMNS = `
  monitor_id AS monitorId, checked_at AS checkedAt, known_until AS knownUntil,
  response_time_ms AS responseTimeMs, failures, failing_since AS failingSince`;

export function selectLatestChecks(db: Database): LatestCheck[] {
  return db.all<LatestCheck>(`SELECT ${COLUMNS} FROM uptime_latest`);
}

/** `undefined` for a monitor that was never checked. */
export function selectLatestCheck(db: Database, monitorId: string): LatestCheck | undefined {
  return db.get<LatestCheck>(`SELECT ${COLUMNS} FROM uptime_latest WHERE monitor_id = :monitorId`, {
    monitorId,
  });
}

export function upsertLatestCheck(db: Database, latest: LatestCheck): void {
  db.run(
    `INSERT OR REPLACE INTO uptime_latest
       (monitor_id, checked_at, known_until, response_time_ms, failures, failing_since)
     VALUES (:monitorId, :checkedAt, :knownUntil, :responseTimeMs, :failures, :failingSince)`,
    { ...latest },
  );
}

/** Forgets the failures in a row. */
export function updateFailuresForgotten(db: Database, monitorId: string): void {
  db.run(
    "UPDATE uptime_latest SET failures = 0, failing_since = NULL WHERE monitor_id = :monitorId",
    { monitorId },
  );
}

/**
 * The `monitor_lives` and `monitor_gaps` tables: since when a monitor is checked, and the times of
 * which nothing is known. Both outlive the monitors.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** From the first check of a monitor to its deletion. Times are ISO 8601, UTC. */
export interface MonitorLife {
  monitorId: string;
  knownFrom: string;
  /** `null` while there is the monitor. */
  deletedAt: string | null;
}

/** A time in which nothing was known of a monitor. */
export interface MonitorGap {
  monitorId: string;
  startedAt: string;
  /** `null` while it is paused. */
  endedAt: string | null;
  reason: "paused" | "unknown";
}

/** Of those monitors that were checked at least once. */
export function selectMonitorLives(db: Database, monitorIds: readonly string[]): MonitorLife[] {
  return db.all<MonitorLife>(
    `SELECT monitor_id AS monitorId, known_from AS knownFrom, deleted_at AS deletedAt
     FROM monitor_lives WHERE monitor_id IN (SELECT value FROM json_each(:ids))`,
    { ids: JSON.stringify(monitorIds) },
  );
}

/** The gaps that overlap a time, those of a pause that goes on as well. */
export function selectMonitorGaps(
  db: Database,
  { monitorIds, from, to }: { monitorIds: readonly string[]; from: string; to: string },
): MonitorGap[] {
  return db.all<MonitorGap>(
    `SELECT monitor_id AS monitorId, started_at AS startedAt, ended_at AS endedAt, reason
     FROM monitor_gaps
     WHERE monitor_id IN (SELECT value FROM json_each(:ids))
       AND started_at < :to AND (ended_at IS NULL OR ended_at > :from)
     ORDER BY started_at`,
    { ids: JSON.stringify(monitorIds), from, to },
  );
}

/** Does nothing for one that is there. @returns Whether it was the monitor's first check. */
export function insertMonitorLife(db: Database, monitorId: string, knownFrom: string): boolean {
  return db.run(
    `INSERT INTO monitor_lives (monitor_id, known_from) VALUES (:monitorId, :knownFrom)
     ON CONFLICT DO NOTHING`,
    { monitorId, knownFrom },
  ) > 0;
}

export function updateMonitorLifeDeleted(db: Database, monitorId: string, deletedAt: string): void {
  db.run(
    `UPDATE monitor_lives SET deleted_at = :deletedAt
     WHERE monitor_id = :monitorId AND deleted_at IS NULL`,
    { monitorId, deletedAt },
  );
}

export function insertMonitorGap(db: Database, gap: MonitorGap): void {
  db.run(
    `INSERT OR REPLACE INTO monitor_gaps (monitor_id, started_at, ended_at, reason)
     VALUES (:monitorId, :startedAt, :endedAt, :reason)`,
    { ...gap },
  );
}

/** Ends the pause that goes on, if there is one. */
export function updateOpenGapEnded(db: Database, monitorId: string, endedAt: string): void {
  db.run(
    `UPDATE monitor_gaps SET ended_at = max(started_at, :endedAt)
     WHERE monitor_id = :monitorId AND ended_at IS NULL`,
    { monitorId, endedAt },
  );
}

/** Deletes what was over before a time. */
export function deleteMonitorTimesBefore(db: Database, before: string): void {
  db.run("DELETE FROM monitor_gaps WHERE ended_at < :before", { before });
  db.run("DELETE FROM monitor_lives WHERE deleted_at < :before", { before });
}

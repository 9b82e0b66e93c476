/**
 * The `monitor_lives` and `monitor_gaps` tables: how long each monitor has been checked, and the
 * gaps without known results. Both outlive the monitors.
 *
 * @module
 */

import { type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";

const lives = table("monitor_lives", {
  monitorId: text(),
  knownFrom: text(),
  /** `null` while the monitor exists. */
  deletedAt: text<string | null>(),
}, { key: "monitorId" });

/** From the first check of a monitor to its deletion. Times are ISO 8601, UTC. */
type MonitorLife = Row<typeof lives>;

const gaps = table("monitor_gaps", {
  monitorId: text(),
  startedAt: text(),
  /** `null` while the monitor is paused. */
  endedAt: text<string | null>(),
  reason: text<"paused" | "unknown">(),
});

/** A time range without known results of a monitor. */
export type MonitorGap = Row<typeof gaps>;

export const { replace: insertMonitorGap } = gaps;

/** The lives of those monitors that were checked at least once. */
export function selectMonitorLives(db: Database, monitorIds: readonly string[]): MonitorLife[] {
  return lives.select(db, "WHERE monitor_id IN (SELECT value FROM json_each(:ids))", {
    ids: JSON.stringify(monitorIds),
  });
}

/** The gaps that overlap a time range, including pauses that have not ended. */
export function selectMonitorGaps(
  db: Database,
  { monitorIds, from, to }: { monitorIds: readonly string[]; from: string; to: string },
): MonitorGap[] {
  return gaps.select(
    db,
    `WHERE monitor_id IN (SELECT value FROM json_each(:ids))
       AND started_at < :to AND (ended_at IS NULL OR ended_at > :from)
     ORDER BY started_at`,
    { ids: JSON.stringify(monitorIds), from, to },
  );
}

/** Does nothing after the first check of a monitor. @returns Whether it was the first check. */
export function insertMonitorLife(db: Database, monitorId: string, knownFrom: string): boolean {
  return lives.insertFields(db, { monitorId, knownFrom }, "ON CONFLICT DO NOTHING");
}

export function updateMonitorLifeDeleted(db: Database, monitorId: string, deletedAt: string): void {
  lives.update(db, monitorId, { deletedAt }, "deleted_at IS NULL");
}

/** Ends the pause of a monitor, if it is paused. */
export function updateOpenGapEnded(db: Database, monitorId: string, endedAt: string): void {
  db.run(
    `UPDATE monitor_gaps SET ended_at = max(started_at, :endedAt)
     WHERE monitor_id = :monitorId AND ended_at IS NULL`,
    { monitorId, endedAt },
  );
}

/** Deletes the gaps and lives that ended before a time. */
export function deleteMonitorTimesBefore(db: Database, before: string): void {
  db.run("DELETE FROM monitor_gaps WHERE ended_at < :before", { before });
  db.run("DELETE FROM monitor_lives WHERE deleted_at < :before", { before });
}

/** The `schedules` table: container actions that run at set times. @module */

import { boolean, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const schedules = table("schedules", {
  id: text(),
  name: text(),
  /** As given: an id, an id prefix or a name. */
  containerId: text(),
  /** Finds the container again after it was recreated. */
  containerName: text(),
  /** The id of its kind, e.g. `restart`. */
  action: text(),
  /** Five fields: minute, hour, day of month, month, day of week. */
  cronExpression: text(),
  /** IANA name. */
  timezone: text(),
  enabled: boolean(),
  createdAt: text(),
  /** When the last run started; `null` before the first. */
  lastRunAt: text<string | null>(),
}, { order: "name COLLATE NOCASE, id" });

/** One schedule as stored. Times are ISO 8601, UTC. */
export type Schedule = Row<typeof schedules>;

export const {
  find: selectSchedule,
  count: countSchedules,
  insert: insertSchedule,
  delete: deleteSchedule,
  /** All schedules by name. */
  all: selectSchedules,
} = schedules;

/** The enabled schedules, oldest first. */
export function selectEnabledSchedules(db: Database): Schedule[] {
  return schedules.select(db, "WHERE enabled = 1 ORDER BY created_at, id");
}

/** Stores what users configure. */
export function updateSchedule(
  db: Database,
  { id, createdAt: _, lastRunAt: __, ...changes }: Schedule,
): void {
  schedules.update(db, id, changes);
}

/** Stores the new name of a container in the schedules that have its full or short id. */
export function updateScheduledName(
  db: Database,
  values: { containerId: string; name: string },
): void {
  db.run(
    `UPDATE schedules SET container_name = :name
     WHERE length(container_id) >= 12 AND substr(:containerId, 1, length(container_id)) = container_id`,
    values,
  );
}

/** @returns Whether the id was known. */
export function updateScheduleEnabled(db: Database, id: string, enabled: boolean): boolean {
  return schedules.update(db, id, { enabled });
}

export function updateScheduleLastRun(db: Database, id: string, at: string): void {
  schedules.update(db, id, { lastRunAt: at });
}

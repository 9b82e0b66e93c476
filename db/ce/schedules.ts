/**
 * The `schedules` table: container actions that run at set times.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

export const SCHEDULE_ACTIONS = ["start", "stop", "restart", "update"] as const;
export type ScheduleAction = (typeof SCHEDULE_ACTIONS)[number];

/** One schedule as stored. Times are ISO 8601, UTC. */
export interface Schedule {
  id: string;
  name: string;
  /** As given: an id, an id prefix or a name. */
  containerId: string;
  /** Finds the container again after it was recreated. */
  containerName: string;
  action: ScheduleAction;
  /** Five fields: minute, hour, day of month, month, day of week. */
  cronExpression: string;
  /** IANA name. */
  timezone: string;
  enabled: boolean;
  createdAt: string;
  /** When the last run started; `null` before the first. */
  lastRunAt: string | null;
}

const schedules = table<Schedule>("schedules", {
  id: "value",
  name: "value",
  containerId: "value",
  containerName: "value",
  action: "value",
  cronExpression: "value",
  timezone: "value",
  enabled: "boolean",
  createdAt: "value",
  lastRunAt: "value",
});

export const {
  find: selectSchedule,
  count: countSchedules,
  insert: insertSchedule,
  delete: deleteSchedule,
} = schedules;

/** All schedules by name. */
export function selectSchedules(db: Database): Schedule[] {
  return schedules.select(db, "ORDER BY name COLLATE NOCASE, id");
}

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

/** The `schedules` table: actions that run at set times. @module */

import { boolean, json, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

/** Numbers of snapshots to keep, by period. */
interface ScheduledKeep {
  last?: number;
  hourly?: number;
  daily?: number;
  weekly?: number;
  monthly?: number;
  yearly?: number;
  within?: {
    years?: number;
    months?: number;
    days?: number;
    hours?: number;
  };
}

/** Options of a prune of the engine. */
interface ScheduledPrune {
  olderThanHours: number;
  /** Default: all except volumes. */
  kinds?: ("containers" | "networks" | "volumes" | "images" | "buildCache")[];
  unusedImages: boolean;
  includeVolumes: boolean;
}

/** Settings that only some kinds have. */
export interface ScheduleOptions {
  /** Names. */
  volumes?: string[];
  /** Id of a backup target; without it the default one. */
  target?: string;
  mode?: "stop" | "pause" | "hooks" | "live";
  includeSharedUsers?: boolean;
  keep?: ScheduledKeep;
  prune?: ScheduledPrune;
  maxUnusedPercent?: number;
}

const schedules = table("schedules", {
  id: text(),
  name: text(),
  /** Id of the kind, e.g. `container`. */
  kind: text(),
  /** One of its kind, e.g. `restart`. */
  action: text(),
  /** As given: an id, an id prefix or a name. */
  containerId: text<string | null>(),
  /** Finds the container again after it was recreated. */
  containerName: text<string | null>(),
  stack: text<string | null>(),
  options: json<ScheduleOptions>(),
  /** Five fields: minute, hour, day of month, month, day of week. */
  cronExpression: text(),
  /** IANA name. */
  timezone: text(),
  enabled: boolean(),
  createdAt: text(),
  /** When it was enabled, or when its times or its subject changed. */
  activeSince: text(),
  /** When the last run started; `null` before the first. */
  lastRunAt: text<string | null>(),
  /** When its backup was reported as overdue; `null` if it is not. */
  overdueSince: text<string | null>(),
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
  { id, createdAt: _, lastRunAt: __, overdueSince: ___, ...changes }: Schedule,
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

export function updateScheduleLastRun(db: Database, id: string, at: string): void {
  schedules.update(db, id, { lastRunAt: at });
}

export function updateScheduleOverdue(db: Database, id: string, since: string | null): void {
  schedules.update(db, id, { overdueSince: since });
}

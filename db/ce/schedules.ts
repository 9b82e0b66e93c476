/**
 * The `schedules` table: container actions run by the clock.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const SCHEDULE_ACTIONS = ["start", "stop", "restart"] as const;
export type ScheduleAction = (typeof SCHEDULE_ACTIONS)[number];

/** One schedule as stored. Times are ISO 8601, UTC. */
export interface Schedule {
  id: string;
  name: string;
  /** As it was given: an id, the beginning of one, or a name. */
  containerId: string;
  /** By which the container is found when it was recreated. */
  containerName: string;
  action: ScheduleAction;
  /** Five fields: minute, hour, day of month, month, day of week. */
  cronExpression: string;
  /** IANA. */
  timezone: string;
  enabled: boolean;
  createdAt: string;
  /** When it last began to act; `null` before. */
  lastRunAt: string | null;
}

const COLUMNS = `
  id, name, container_id AS containerId, container_name AS containerName, action,
  cron_expression AS cronExpression, timezone, enabled, created_at AS createdAt,
  last_run_at AS lastRunAt`;

type Row = Omit<Schedule, "enabled"> & { enabled: number };

const fromRow = (row: Row): Schedule => ({ ...row, enabled: row.enabled === 1 });

/** All schedules by name. */
export function selectSchedules(db: Database): Schedule[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM schedules ORDER BY name COLLATE NOCASE, id`)
    .map(fromRow);
}

/** The schedules that are on, oldest first. */
export function selectEnabledSchedules(db: Database): Schedule[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM schedules WHERE enabled = 1 ORDER BY created_at, id`,
  ).map(fromRow);
}

/** One schedule, or `undefined` when the id is unknown. */
export function selectSchedule(db: Database, id: string): Schedule | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM schedules WHERE id = :id`, { id });
  return row && fromRow(row);
}

export function countSchedules(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM schedules")!.n;
}

export function insertSchedule(db: Database, schedule: Schedule): void {
  db.run(
    `INSERT INTO schedules (id, name, container_id, container_name, action, cron_expression,
       timezone, enabled, created_at, last_run_at)
     VALUES (:id, :name, :containerId, :containerName, :action, :cronExpression,
       :timezone, :enabled, :createdAt, :lastRunAt)`,
    { ...schedule, enabled: Number(schedule.enabled) },
  );
}

/** Stores everything about a schedule that a user decides. */
export function updateSchedule(db: Database, schedule: Schedule): void {
  const { createdAt: _, lastRunAt: __, ...values } = schedule;
  db.run(
    `UPDATE schedules SET name = :name, container_id = :containerId,
       container_name = :containerName, action = :action, cron_expression = :cronExpression,
       timezone = :timezone, enabled = :enabled
     WHERE id = :id`,
    { ...values, enabled: Number(values.enabled) },
  );
}

/** @returns Whether the id was known. */
export function updateScheduleEnabled(db: Database, id: string, enabled: boolean): boolean {
  return db.run(
    "UPDATE schedules SET enabled = :enabled WHERE id = :id",
    { id, enabled: Number(enabled) },
  ) > 0;
}

export function updateScheduleLastRun(db: Database, id: string, at: string): void {
  db.run("UPDATE schedules SET last_run_at = :at WHERE id = :id", { id, at });
}

/** @returns Whether the id was known. */
export function deleteSchedule(db: Database, id: string): boolean {
  return db.run("DELETE FROM schedules WHERE id = :id", { id }) > 0;
}

/**
 * The `schedule_runs` table: what schedules did, and to what end.
 *
 * @module
 */

import type { Database } from "../database.ts";
import type { ScheduleAction } from "./schedules.ts";

export const RUN_STATUSES = ["success", "failure", "skipped"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** A run that has begun. Times are ISO 8601, UTC. */
export interface BegunRun {
  id: string;
  scheduleId: string;
  scheduleName: string;
  containerId: string;
  containerName: string;
  action: ScheduleAction;
  startedAt: string;
}

/** A run that has come to its end. */
export interface ScheduleRun extends BegunRun {
  finishedAt: string;
  status: RunStatus;
  /** Why it failed or was skipped. */
  error: string | null;
}

/** What a run came to, and which container it found. */
export type RunEnd = Pick<
  ScheduleRun,
  "id" | "containerId" | "containerName" | "finishedAt" | "status" | "error"
>;

const BEGUN_COLUMNS = `
  id, schedule_id AS scheduleId, schedule_name AS scheduleName, container_id AS containerId,
  container_name AS containerName, action, started_at AS startedAt`;

/** Finished runs, newest first. */
export function selectScheduleRuns(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): ScheduleRun[] {
  return db.all<ScheduleRun>(
    `SELECT ${BEGUN_COLUMNS}, finished_at AS finishedAt, status, error
     FROM schedule_runs WHERE finished_at IS NOT NULL
     ORDER BY started_at DESC, id LIMIT :limit OFFSET :offset`,
    { limit, offset },
  );
}

/** Number of finished runs. */
export function countScheduleRuns(db: Database): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM schedule_runs WHERE finished_at IS NOT NULL",
  )!.n;
}

export function selectUnfinishedRuns(db: Database): BegunRun[] {
  return db.all<BegunRun>(
    `SELECT ${BEGUN_COLUMNS} FROM schedule_runs WHERE finished_at IS NULL ORDER BY id`,
  );
}

/** @returns Whether it was stored: a due time of a schedule is run once. */
export function insertScheduleRun(db: Database, run: BegunRun & { dueAt: string }): boolean {
  return db.run(
    `INSERT INTO schedule_runs (id, schedule_id, schedule_name, container_id, container_name,
       action, due_at, started_at)
     VALUES (:id, :scheduleId, :scheduleName, :containerId, :containerName,
       :action, :dueAt, :startedAt)
     ON CONFLICT (schedule_id, due_at) DO NOTHING`,
    { ...run },
  ) > 0;
}

export function updateScheduleRunEnd(
  db: Database,
  { id, containerId, containerName, finishedAt, status, error }: RunEnd,
): void {
  db.run(
    `UPDATE schedule_runs SET container_id = :containerId, container_name = :containerName,
       finished_at = :finishedAt, status = :status, error = :error
     WHERE id = :id`,
    { id, containerId, containerName, finishedAt, status, error },
  );
}

/** Deletes runs that began before `at`. @returns How many went. */
export function deleteScheduleRunsBefore(db: Database, at: string): number {
  return db.run(
    "DELETE FROM schedule_runs WHERE started_at < :at AND finished_at IS NOT NULL",
    { at },
  );
}

/** Deletes all but the newest runs of each schedule. @returns How many went. */
export function deleteScheduleRunsBeyond(db: Database, keep: number): number {
  return db.run(
    `DELETE FROM schedule_runs WHERE finished_at IS NOT NULL AND id IN (
       SELECT id FROM (
         SELECT id, row_number() OVER (PARTITION BY schedule_id ORDER BY due_at DESC) AS place
         FROM schedule_runs
       ) WHERE place > :keep
     )`,
    { keep },
  );
}

/** The `schedule_runs` table: runs of schedules and their results. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import { runRetention } from "./run_retention.ts";

export const RUN_STATUSES = ["success", "failure", "skipped"] as const;
type RunStatus = (typeof RUN_STATUSES)[number];

const started = {
  id: text(),
  scheduleId: text(),
  scheduleName: text(),
  /** Id of the kind of the schedule. */
  kind: text(),
  action: text(),
  containerId: text<string | null>(),
  containerName: text<string | null>(),
  stack: text<string | null>(),
  /** Object that it acts on, in words. */
  subject: text(),
  startedAt: text(),
  /** The last job that it has started. */
  jobId: text<string | null>(),
};

const startedRuns = table("schedule_runs", { ...started, dueAt: text() });

/** A run that has started. Times are ISO 8601, UTC. */
export type StartedRun = Omit<Row<typeof startedRuns>, "dueAt">;

const runs = table("schedule_runs", {
  ...started,
  finishedAt: text(),
  status: text<RunStatus>(),
  /** Why it failed or was skipped. */
  error: text<string | null>(),
}, { order: "started_at DESC, id" });

/** A run that has finished. */
export type ScheduleRun = Row<typeof runs>;

/** The result of a run, and the container that it acted on. */
export type RunEnd = Pick<
  ScheduleRun,
  "id" | "containerId" | "containerName" | "subject" | "finishedAt" | "status" | "error"
>;

/** The container or stack of a run, as the run refers to it. */
type RunTarget = Pick<ScheduleRun, "kind" | "containerId" | "containerName" | "stack">;

/** Finished runs, newest first; of the given targets, else of all. */
export function selectScheduleRuns(
  db: Database,
  { limit, offset, targets }: {
    limit: number;
    offset: number;
    targets?: readonly RunTarget[] | undefined;
  },
): ScheduleRun[] {
  const { where, params } = finished(targets);
  return runs.page(db, { limit, offset }, where, params);
}

/** Number of finished runs; of the given targets, else of all. */
export function countScheduleRuns(db: Database, targets?: readonly RunTarget[]): number {
  const { where, params } = finished(targets);
  return runs.countWhere(db, where, params);
}

/** The containers and stacks of all runs. */
export function selectRunTargets(db: Database): RunTarget[] {
  return db.all<RunTarget>(
    `SELECT DISTINCT kind, container_id AS containerId, container_name AS containerName, stack
     FROM schedule_runs`,
  );
}

function finished(targets: readonly RunTarget[] | undefined) {
  const where = "WHERE finished_at IS NOT NULL";
  if (!targets) return { where, params: {} };
  return {
    // A row of values with NULL is in no list.
    where: `${where} AND json_array(kind, container_id, container_name, stack) IN (
      SELECT json_array(value ->> 'kind', value ->> 'containerId', value ->> 'containerName',
        value ->> 'stack') FROM json_each(:targets))`,
    params: { targets: JSON.stringify(targets) },
  };
}

export function selectUnfinishedRuns(db: Database): StartedRun[] {
  return startedRuns.select(db, "WHERE finished_at IS NULL ORDER BY id");
}

/** @returns Whether it was stored: a schedule runs once for each due time. */
export function insertScheduleRun(db: Database, run: StartedRun & { dueAt: string }): boolean {
  return startedRuns.insertFields(db, run, "ON CONFLICT (schedule_id, due_at) DO NOTHING");
}

export function updateScheduleRunEnd(
  db: Database,
  { id, containerId, containerName, subject, finishedAt, status, error }: RunEnd,
): void {
  runs.update(db, id, { containerId, containerName, subject, finishedAt, status, error });
}

export function updateScheduleRunJob(db: Database, id: string, jobId: string): void {
  runs.update(db, id, { jobId });
}

export const {
  deleteBefore: deleteScheduleRunsBefore,
  deleteBeyond: deleteScheduleRunsBeyond,
} = runRetention("schedule_runs", { owner: "schedule_id", time: "due_at" });

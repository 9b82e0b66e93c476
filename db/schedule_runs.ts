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
  containerId: text(),
  containerName: text(),
  action: text(),
  startedAt: text(),
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
  "id" | "containerId" | "containerName" | "finishedAt" | "status" | "error"
>;

/** The container of a run, as the run refers to it. */
type RunTarget = Pick<ScheduleRun, "containerId" | "containerName">;

/** Finished runs, newest first; of the given containers, else of all. */
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

/** Number of finished runs; of the given containers, else of all. */
export function countScheduleRuns(db: Database, targets?: readonly RunTarget[]): number {
  const { where, params } = finished(targets);
  return runs.countWhere(db, where, params);
}

/** The containers of all runs. */
export function selectRunTargets(db: Database): RunTarget[] {
  return db.all<RunTarget>(
    `SELECT DISTINCT container_id AS containerId, container_name AS containerName
     FROM schedule_runs`,
  );
}

function finished(targets: readonly RunTarget[] | undefined) {
  const where = "WHERE finished_at IS NOT NULL";
  if (!targets) return { where, params: {} };
  return {
    where: `${where} AND (container_id, container_name) IN (
      SELECT value ->> 'containerId', value ->> 'containerName' FROM json_each(:targets))`,
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
  { id, containerId, containerName, finishedAt, status, error }: RunEnd,
): void {
  runs.update(db, id, { containerId, containerName, finishedAt, status, error });
}

export const {
  deleteBefore: deleteScheduleRunsBefore,
  deleteBeyond: deleteScheduleRunsBeyond,
} = runRetention("schedule_runs", { owner: "schedule_id", time: "due_at" });

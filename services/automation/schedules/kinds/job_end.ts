/** Runs that wait for the end of the job that they have started. @module */

import { type Job, selectJob } from "../../../../db/jobs.ts";
import type { Deps } from "../../../deps.ts";
import type { JobView } from "../../../jobs/view.ts";
import { aborted } from "../../../waiting.ts";
import { drillKind } from "../../../snapshots/drills/kinds.ts";
import { snapshotKind } from "../../../snapshots/kinds.ts";
import { ownBackupKind } from "../../../snapshots/own/kind.ts";
import { updateKind } from "../../../updates/run/kind.ts";
import { stackUpdateKind } from "../../../updates/run/stack_kind.ts";
import { hasNotReached } from "../../../updates/run/allowed.ts";
import type { Outcome, Run } from "./kind.ts";

/** Kinds of jobs whose failure is an event of its own. */
const REPORTED: readonly string[] = [
  updateKind.id,
  stackUpdateKind.id,
  snapshotKind.id,
  ownBackupKind.id,
  drillKind.id,
];

/** Waits for the end of a job, or for the stop of the service. */
export async function endOf(
  { db, jobs }: Pick<Deps, "db" | "jobs">,
  { id }: Pick<JobView, "id">,
  run: Run,
): Promise<Outcome> {
  run.begun(id);
  const active = jobs.get(id);
  if (active) await aborted(active.ended.signal);
  return outcomeOf(selectJob(db, id));
}

/** The outcome of a run by its job as it is stored. */
export function outcomeOf(job: Job | undefined): Outcome {
  if (!job) return { status: "failure", error: "The job of the run is not known any more" };
  if (job.endedAt === null) return "unfinished";
  if (job.status === "succeeded") return undefined;
  if (hasNotReached(job.result)) return { status: "skipped", error: job.error! };
  const isReported = REPORTED.includes(job.kind) && job.status !== "cancelled";
  return {
    status: "failure",
    error: job.error ?? "The job did not succeed",
    ...(isReported && { jobId: job.id }),
  };
}

/** Jobs: list, details, cancellation, retention. @module */

import {
  deleteJobsBefore,
  type Job,
  type JobFilter,
  type JobPosition,
  selectJob,
  selectJobs,
} from "../../db/jobs.ts";
import { assertMayDo, type Caller } from "../access/caller.ts";
import { isLimited } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import { type JobView, jobVisibility, viewFor } from "./view.ts";

export { JOB_STATUSES, JOB_TARGET_TYPES } from "../../db/jobs.ts";

type ReadDeps = Pick<Deps, "db" | "inventory">;

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Jobs that are read at a time for a token that sees few of them. */
const SCANNED = 500;

interface JobPage {
  jobs: JobView[];
  /** Continues the list; `null` on the last page. */
  nextCursor: string | null;
}

/**
 * Jobs that the caller may read, newest first.
 *
 * @param options.cursor The `nextCursor` of the page before.
 * @throws {AppError} `invalid` for an unknown cursor.
 */
export function listJobs(
  deps: ReadDeps,
  caller: Caller,
  { limit, cursor, ...filter }: JobFilter & { limit: number; cursor?: string | undefined },
): JobPage {
  const isVisible = jobVisibility(deps, caller);
  const jobs: Job[] = [];
  let after = cursor === undefined ? undefined : toPosition(cursor);
  // One more than shown tells whether there is another page.
  const portion = isLimited(caller.scope) ? SCANNED : limit + 1;
  for (;;) {
    const found = selectJobs(deps.db, filter, { limit: portion, after });
    jobs.push(...found.filter(isVisible));
    after = found.at(-1);
    if (jobs.length > limit || found.length < portion) break;
  }
  const page = jobs.slice(0, limit);
  const hasMore = jobs.length > limit;
  return {
    jobs: page.map((job) => viewFor(deps, caller, job)),
    nextCursor: hasMore ? toCursor(page.at(-1)!) : null,
  };
}

/** @throws {AppError} `not_found`, also for a job that the caller may not read. */
export function getJob(deps: ReadDeps, caller: Caller, id: string): JobView {
  const job = selectJob(deps.db, id);
  if (!job || !jobVisibility(deps, caller)(job)) throw notFound("Job", id);
  return viewFor(deps, caller, job);
}

/**
 * Cancels a job. A running one ends when its work has stopped, and may still succeed.
 *
 * @throws {AppError} `not_found`; `forbidden` for a caller who may not start such a job; `conflict`
 * if it has ended or is about to recover.
 */
export function cancelJob(
  deps: ReadDeps & Pick<Deps, "jobs">,
  caller: Caller,
  id: string,
): JobView {
  const { status } = getJob(deps, caller, id);
  const job = deps.jobs.get(id);
  if (!job) throw new AppError("conflict", `Job ${id} has already ended (${status})`);
  assertMayDo(caller, job.guard.role, job.guard.permission);
  if (job.isWaiting) {
    throw new AppError("conflict", `Job ${id} waits for the container engine to recover`);
  }
  job.controller.abort(new AppError("conflict", "Cancelled"));
  return viewFor(deps, caller, job.record);
}

export function sweepJobs({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteJobsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
}

const toCursor = ({ createdAt, id }: JobPosition) => `${createdAt}_${id}`;

function toPosition(cursor: string): JobPosition {
  const [, createdAt, id] = /^(\d{4}-[\d:.TZ-]{19})_([\da-f-]{36})$/.exec(cursor) ?? [];
  if (createdAt === undefined || id === undefined) {
    throw new AppError("invalid", "query.cursor: must be the nextCursor of a page");
  }
  return { createdAt, id };
}

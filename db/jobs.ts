/**
 * The `jobs` table: work that takes longer than a request, with its steps and its outcome.
 *
 * @module
 */

import { json, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

export const JOB_STATUSES = [
  "queued",
  "running",
  "succeeded",
  "failed",
  "rolled_back",
  "needs_attention",
  "cancelled",
] as const;
type JobStatus = (typeof JOB_STATUSES)[number];

export const JOB_TARGET_TYPES = [
  "image",
  "container",
  "stack",
  "host",
  "service",
  "secret",
  "config",
] as const;
export type JobTargetType = (typeof JOB_TARGET_TYPES)[number];

export interface JobProgress {
  /** In the unit of the kind, e.g. bytes; `total` is `null` while unknown. */
  current: number;
  total: number | null;
  message: string | null;
}

/** Times are ISO 8601, UTC. */
export interface JobStep {
  name: string;
  status: "running" | "succeeded" | "failed";
  startedAt: string;
  endedAt: string | null;
  /** Why it failed. */
  message: string | null;
  /** Value that a succeeded step returned, as JSON; never shown. */
  value?: unknown;
}

/** Selects jobs; a missing field matches all. */
export interface JobFilter {
  kind?: readonly string[] | undefined;
  status?: JobStatus | undefined;
  target?: string | undefined;
}

const jobs = table("jobs", {
  id: text(),
  /** E.g. `image.pull`. */
  kind: text(),
  targetType: text<JobTargetType>(),
  /**
   * Object of the job; two unfinished jobs never have the same one. For a container or a stack it
   * is the name.
   */
  target: text(),
  /** The stack of a target that is a container or service in one. */
  stack: text<string | null>(),
  status: text<JobStatus>(),
  progress: json<JobProgress | null>(),
  steps: json<JobStep[]>(),
  /** Input of the kind, needed also after a restart; never shown. */
  input: json<unknown>(),
  error: text<string | null>(),
  result: json<unknown>(),
  /** Id of the user. */
  createdBy: text(),
  /** Id of the API token that it was created with; never shown. */
  tokenId: text<string | null>(),
  createdAt: text(),
  startedAt: text<string | null>(),
  /** `null` while queued or running. */
  endedAt: text<string | null>(),
});

/** One job. Times are ISO 8601, UTC. */
export type Job = Row<typeof jobs>;

/** The position of a job in the list. */
export type JobPosition = Pick<Job, "createdAt" | "id">;

export const { find: selectJob, insert: insertJob } = jobs;

const CONDITIONS: Record<keyof JobFilter, string> = {
  kind: "kind IN (SELECT value FROM json_each(:kind))",
  status: "status = :status",
  target: "target = :target",
};

/** Newest first, after the given position. */
export function selectJobs(
  db: Database,
  filter: JobFilter,
  { limit, after }: { limit: number; after?: JobPosition | undefined },
): Job[] {
  const params: Record<string, string | number> = { limit };
  const conditions: string[] = [];
  for (const [name, condition] of Object.entries(CONDITIONS)) {
    const value = filter[name as keyof JobFilter];
    if (value === undefined) continue;
    conditions.push(condition);
    params[name] = typeof value === "string" ? value : JSON.stringify(value);
  }
  if (after) {
    conditions.push("(created_at, id) < (:afterAt, :afterId)");
    Object.assign(params, { afterAt: after.createdAt, afterId: after.id });
  }
  const where = conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "";
  return jobs.select(db, `${where} ORDER BY created_at DESC, id DESC LIMIT :limit`, params);
}

/** Queued and running jobs, oldest first. */
export function selectUnfinishedJobs(db: Database): Job[] {
  return jobs.select(db, "WHERE ended_at IS NULL ORDER BY created_at, id");
}

export function selectUnfinishedJobOf(
  db: Database,
  { targetType, target }: Pick<Job, "targetType" | "target">,
): Job | undefined {
  return jobs.selectOne(
    db,
    "WHERE target_type = :targetType AND target = :target AND ended_at IS NULL",
    { targetType, target },
  );
}

/** A job for one of the targets that a user has started since a time. */
export function selectJobStartedBy(
  db: Database,
  { createdBy, since, targets }: { createdBy: string; since: string; targets: readonly string[] },
): Job | undefined {
  return jobs.selectOne(
    db,
    `WHERE created_by = :createdBy AND created_at >= :since
       AND target IN (SELECT value FROM json_each(:targets)) ORDER BY created_at LIMIT 1`,
    { createdBy, since, targets: JSON.stringify(targets) },
  );
}

export function updateJob(db: Database, id: string, changes: Partial<Job>): void {
  jobs.update(db, id, changes);
}

/** Deletes jobs that ended before `at`. */
export function deleteJobsBefore(db: Database, at: string): void {
  db.run("DELETE FROM jobs WHERE ended_at < :at", { at });
}

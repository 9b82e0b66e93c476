/**
 * Turns of runs that use the same backup target. Forgetting and pruning lock a repository for
 * themselves, and a lock that is in use fails a job instead of letting it wait.
 *
 * @module
 */

import { selectDefaultBackupTarget } from "../../../../db/backup_targets.ts";
import { type Job, selectUnfinishedJobs } from "../../../../db/jobs.ts";
import { forgetKind, pruneKind } from "../../../backup/targets/jobs.ts";
import { usesTarget } from "../../../backup/targets/needed.ts";
import type { Deps } from "../../../deps.ts";
import { aborted } from "../../../waiting.ts";
import type { Run } from "./kind.ts";

/** Kinds of jobs that exclude all others. */
const EXCLUSIVE: readonly string[] = [forgetKind.id, pruneKind.id];

/** @param id Default: the default target. */
export const inTurnAt = <Result>(
  { db }: Pick<Deps, "db">,
  run: Run,
  id: string | undefined,
  work: () => Promise<Result>,
): Promise<Result> =>
  run.inTurn(`target ${id ?? selectDefaultBackupTarget(db)?.id ?? "default"}`, work);

/** Waits for the jobs of people that exclude the next one at a target, or that it excludes. */
export async function whenFree(
  { db, jobs }: Pick<Deps, "db" | "jobs">,
  targetId: string,
  { isExclusive }: { isExclusive: boolean },
): Promise<void> {
  while (!jobs.stopping.aborted) {
    const active = selectUnfinishedJobs(db)
      .filter((job) => isAt(job, targetId) && (isExclusive || EXCLUSIVE.includes(job.kind)))
      .flatMap(({ id }) => jobs.get(id) ?? []);
    if (active.length === 0) return;
    await Promise.all(active.map(({ ended }) => aborted(ended.signal)));
  }
}

/** Jobs on a target itself have its id as `id`. */
const isAt = (job: Job, targetId: string): boolean =>
  usesTarget(job, targetId) || (job.input as { id?: unknown } | null)?.id === targetId;

/** Waits for locks of repositories, which jobs show as their progress. @module */

import type { JobRun } from "../../jobs/kind.ts";
import type { LockWait } from "../restic/lock.ts";
import type { Repository } from "../restic/repository.ts";
import { translated } from "../targets/repository.ts";

/** Shows why a job waits. */
export const lockWait = ({ progress }: Pick<JobRun, "progress">): LockWait => ({
  onLocked: (message) => progress({ current: 0, total: null, message }),
});

/**
 * Waits for a prune. Called before containers are stopped or anything is deleted.
 *
 * @throws {AppError} `conflict` if the repository stays locked.
 */
export const whenUnlocked = (
  repository: Repository,
  job: Pick<JobRun, "progress" | "signal">,
): Promise<void> => whileLocked(repository, job, () => Promise.resolve());

/**
 * Waits for a prune, and lets none begin until the work is done.
 *
 * @throws {AppError} `conflict` if the repository stays locked.
 */
export async function whileLocked<Result>(
  repository: Repository,
  job: Pick<JobRun, "progress" | "signal">,
  work: () => Promise<Result>,
): Promise<Result> {
  return await translated(async () => {
    const lock = repository.locked(lockWait(job), job.signal);
    try {
      await lock.next();
      return await work();
    } finally {
      await lock.return(undefined);
    }
  });
}

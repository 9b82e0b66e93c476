/** Jobs: which are in progress, and how they end. @module */

import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../api/client.ts";
import { useRead, useReloadAfter } from "../components/reading.ts";
import { addJob, jobs, type LiveJob } from "./live.ts";
import { sentenceOf, showAlert, showStatus, withResult } from "./toasts.ts";

/** Recent jobs that a page reads; jobs in progress are among them. */
const READ_MAX = 50;

/** Jobs in progress of these kinds, e.g. `image.pull`, oldest first. */
export function useJobs(kinds: readonly string[]): readonly LiveJob[] {
  const { data } = useRead("GET /api/jobs", { query: { limit: READ_MAX } });
  useEffect(() => data.value?.jobs.toReversed().forEach(addJob), [data.value]);
  return [...jobs.value.values()]
    .filter(({ kind, endedAt }) => endedAt === null && kinds.includes(kind));
}

/** Reads again when a job on a target has ended, because states arrive only every 15 seconds. */
export const useReloadOnEnd = (
  { targetType, target }: Pick<LiveJob, "targetType" | "target">,
  reload: () => void,
): void =>
  useReloadAfter(
    [...jobs.value.values()].filter((job) =>
      job.targetType === targetType && job.target === target && job.endedAt !== null
    ).length,
    reload,
  );

/**
 * Waits until a job has ended.
 *
 * @throws {ApiError} With the job's error, unless it succeeded.
 */
export function jobEnd(id: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = effect(() => {
      const job = jobs.value.get(id);
      if (!job?.endedAt) return;
      queueMicrotask(() => stop());
      if (job.status === "succeeded") return resolve();
      const reason = job.error ?? `The job was ${job.status}`;
      reject(new ApiError(409, job.status === "rolled_back" ? `Rolled back: ${reason}` : reason));
    });
  });
}

/**
 * Starts a job, waits for its end and reports it.
 *
 * @param failed Sentence before the reason of a failure.
 */
export async function reportJob(
  start: () => Promise<LiveJob>,
  done: string,
  failed?: string,
): Promise<void> {
  try {
    const job = await start();
    addJob(job);
    await jobEnd(job.id);
    showStatus(done);
  } catch (error) {
    showAlert([failed, sentenceOf(error)].filter(Boolean).join(". "));
  }
}

/**
 * Starts a job and reports that; its end is reported wherever the user is by then.
 *
 * @param what E.g. `The update of web`.
 * @returns Whether it has begun.
 */
export async function beginJob(what: string, start: () => Promise<LiveJob>): Promise<boolean> {
  let job: LiveJob | undefined;
  await withResult(`${what} has begun`, async () => {
    job = await start();
  });
  const begun = job;
  if (!begun) return false;
  void reportJob(() => Promise.resolve(begun), `${what} has succeeded`, `${what} has failed`);
  return true;
}

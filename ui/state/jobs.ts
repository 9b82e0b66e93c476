/** Jobs: which are in progress, and how they end. @module */

import { effect } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ApiError } from "../api/client.ts";
import { useRead } from "../components/reading.ts";
import { addJob, jobs, type LiveJob } from "./live.ts";

/** Recent jobs that a page reads; jobs in progress are among them. */
const READ_MAX = 50;

/** Jobs in progress of these kinds, e.g. `image.pull`, oldest first. */
export function useJobs(kinds: readonly string[]): readonly LiveJob[] {
  const { data } = useRead("GET /api/jobs", { query: { limit: READ_MAX } });
  useEffect(() => data.value?.jobs.toReversed().forEach(addJob), [data.value]);
  return [...jobs.value.values()]
    .filter(({ kind, endedAt }) => endedAt === null && kinds.includes(kind));
}

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

/** Requests that wait for the end of a job. @module */

import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { JobEnd } from "./kind.ts";
import type { StartedJob } from "./runner.ts";

/**
 * Waits for the result of a job that has just been started.
 *
 * @throws {AppError} `conflict` if the job was rolled back, needs attention or was cancelled;
 * `unavailable` if the engine was lost or the service stops: the job continues later.
 */
export async function waitForJob<Result>(
  { jobs }: Pick<Deps, "jobs">,
  { job: { id }, completion }: StartedJob<Result>,
): Promise<Result> {
  const active = jobs.get(id);
  while (active && !active.ended.signal.aborted) {
    if (active.isWaiting) {
      const message = `The container engine was lost; job ${id} continues when it is back`;
      throw new AppError("unavailable", message);
    }
    await active.changed();
  }
  try {
    return await completion;
  } catch (error) {
    if (error instanceof JobEnd && error.status !== "failed") throw error;
    active?.controller.signal.throwIfAborted();
    throw error;
  }
}

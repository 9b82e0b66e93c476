/** Why a deploy has failed, as its job stores it. @module */

import type { Deps } from "../../deps.ts";
import { failedContainer } from "../../updates/run/container_error.ts";
import { messageOf } from "../../updates/run/job.ts";
import type { DeployJob } from "./job.ts";

/** Value of the step `failure`. */
interface Failure {
  reason: string;
  /** Name of the container that failed, if it was one. */
  container: string | null;
}

const FAILURE = "failure";

/** Stores why a deploy has failed, so that it is taken back also after a restart. */
export async function storeFailure(deps: Deps, job: DeployJob, error: unknown): Promise<void> {
  await job.step(
    FAILURE,
    (): Promise<Failure> =>
      Promise.resolve({ reason: messageOf(deps, error), container: failedContainer(error) }),
  );
}

export const hasFailure = (job: DeployJob): boolean => job.resultOf(FAILURE) !== undefined;

/** Jobs of older versions have only the reason. */
export function failureOf(job: Pick<DeployJob, "resultOf">): Failure {
  const stored = job.resultOf(FAILURE) as Failure | string;
  return typeof stored === "string" ? { reason: stored, container: null } : stored;
}

export const reasonOf = (job: DeployJob): string => failureOf(job).reason;

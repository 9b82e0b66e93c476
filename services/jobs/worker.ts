/**
 * The worker that resumes interrupted jobs at the start and ends the running ones at the stop.
 *
 * @module
 */

import { withDeadline } from "../deadline.ts";
import type { Worker } from "../lifecycle.ts";
import { aborted } from "../waiting.ts";
import type { JobKind } from "./kind.ts";
import { resumeJobs } from "./runner.ts";

/** Longest wait for running jobs when the service stops, in milliseconds. */
const DRAIN_MS = 5_000;

/** @param kinds Every kind of job, to resume those of an earlier process. */
export const jobRunner = (kinds: readonly JobKind[]): Worker => ({
  name: "job runner",
  edition: "ce",
  async run(deps, signal, round) {
    resumeJobs(deps, kinds);
    round();
    await aborted(signal);
    deps.jobs.stop();
    await withDeadline(deps.jobs.idle(), DRAIN_MS);
    deps.jobs.close();
  },
});

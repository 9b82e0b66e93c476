/**
 * The worker that resumes interrupted jobs at the start and ends the running ones at the stop.
 *
 * @module
 */

import { withDeadline } from "../deadline.ts";
import { aborted, type Worker } from "../lifecycle.ts";
import { jobKinds } from "../community/job_kinds.ts";
import { resumeJobs } from "./runner.ts";

/** How long the service waits for running jobs when it stops, in milliseconds. */
const DRAIN_MS = 5_000;

export const jobRunner: Worker = {
  name: "job runner",
  edition: "ce",
  async run(deps, signal, round) {
    resumeJobs(deps, jobKinds);
    round();
    await aborted(signal);
    deps.jobs.stop();
    await withDeadline(deps.jobs.idle(), DRAIN_MS);
    deps.jobs.close();
  },
};

/**
 * The script of the worker that fetches and reads repositories, see `repository.ts`. It sends one
 * message when it has started; each message that it gets is a job.
 *
 * @module
 */

import { parentPort } from "node:worker_threads";
import { createJobs } from "./jobs.ts";

const run = createJobs();
parentPort?.on("message", async (job: string) => {
  parentPort?.postMessage(await run(job));
});
parentPort?.postMessage("");

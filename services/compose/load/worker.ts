/**
 * The script of the worker that loads projects, see `services/compose/loader.ts`. It sends one message when it has
 * started; each message that it gets is a job.
 *
 * @module
 */

import { parentPort } from "node:worker_threads";
import { loadTexts } from "./texts.ts";

parentPort?.on("message", async (job: string) => {
  parentPort?.postMessage(await loadTexts(job));
});
parentPort?.postMessage("");

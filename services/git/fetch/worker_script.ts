/** The worker that fetches and reads repositories. @module */

import { type ProjectRunner, startWorker } from "../../compose/loader.ts";
import { workerScript } from "../../config/worker_script.ts";

/** Longest job: the download of a pack, and its check. */
const DEADLINE_MS = 7 * 60_000;

/** Limits of the heap, in MiB. Packs and objects are outside of it, and have limits of their own. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

export async function startRepositoryWorker(): Promise<ProjectRunner> {
  const script = await workerScript(new URL("./worker.ts", import.meta.url), "git_worker.js");
  return await startWorker(script, { deadlineMs: DEADLINE_MS, memory: MEMORY });
}

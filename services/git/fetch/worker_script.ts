/** The worker that fetches and reads repositories. @module */

import { type ProjectRunner, startWorker } from "../../compose/loader.ts";

/** Longest job: the download of a pack, and its check. */
const DEADLINE_MS = 7 * 60_000;

/** Limits of the heap, in MiB. Packs and objects are outside of it, and have limits of their own. */
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

export async function startRepositoryWorker(): Promise<ProjectRunner> {
  return await startWorker(await script(), { deadlineMs: DEADLINE_MS, memory: MEMORY });
}

/** In an executable, which runs a bundle, the script is next to the program. */
async function script(): Promise<URL> {
  if (import.meta.url.endsWith(".ts")) return new URL("./worker.ts", import.meta.url);
  const text = await Deno.readTextFile(new URL("git_worker.js", import.meta.url));
  return new URL(`data:text/javascript,${encodeURIComponent(text)}`);
}

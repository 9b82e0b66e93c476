/**
 * Reads the sizes of the containers' writable layers for the metrics export. This takes the engine
 * up to minutes, so it happens every 15 minutes, and only while a scraper is active.
 *
 * @module
 */

import { containerList } from "../../engine/containers.ts";
import { EngineError, EngineUnreachableError } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import type { Worker } from "../lifecycle.ts";
import { sleep } from "../waiting.ts";

const ROUND_MS = 15_000;

/** Interval of readings, in milliseconds. */
const SIZES_MS = 15 * 60_000;

/** Timeout of one reading, in milliseconds. */
const TIMEOUT_MS = 5 * 60_000;

export const sizeSampler: Worker = {
  name: "size sampler",
  edition: "ce",
  async run(deps, signal, round) {
    let readAt = -Infinity;
    while (!signal.aborted) {
      const at = deps.now().getTime();
      if (deps.stats.sizesWanted && Math.abs(at - readAt) >= SIZES_MS) {
        readAt = at;
        await readSizes(deps, signal);
      }
      round();
      await sleep(ROUND_MS, signal);
    }
  },
};

/** Reads the sizes of all running containers. On failure the previous sizes stay. */
export async function readSizes(
  { engine, stats, log }: Pick<Deps, "engine" | "stats" | "log">,
  signal: AbortSignal,
): Promise<void> {
  try {
    const containers = await containerList(engine, {
      size: true,
      signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
    });
    // The engine omits a size of 0.
    stats.putSizes(new Map(containers.map(({ Id, SizeRw = 0 }) => [Id, SizeRw])));
  } catch (error) {
    if (signal.aborted) return;
    const isExpected = error instanceof EngineError || error instanceof EngineUnreachableError ||
      (error as Error).name === "TimeoutError";
    log[isExpected ? "debug" : "error"]("reading container sizes failed", { error: String(error) });
  }
}

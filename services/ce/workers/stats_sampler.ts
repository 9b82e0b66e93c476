/**
 * Samples the running containers that somebody needs figures of, and every one once after its
 * start, so that a first look at it finds figures.
 *
 * @module
 */

import { EngineError, EngineUnreachableError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { sleep, type Worker } from "../../lifecycle.ts";
import { sampleContainer } from "../container_stats.ts";

/** How often a container that is needed is sampled, in milliseconds. */
export const SAMPLE_MS = 15_000;

/** How often it is looked what is due, in milliseconds: a new container has figures soon after. */
const ROUND_MS = 1_000;

/** Each sample keeps the engine busy for one to two seconds, mostly waiting. */
const SAMPLES_MAX = 24;

type SamplerDeps = Pick<Deps, "engine" | "inventory" | "stats" | "log" | "now">;

export const statsSampler: Worker = {
  name: "stats sampler",
  edition: "ce",
  async run(deps, signal, round) {
    const sampler = createSampler(deps, signal);
    while (!signal.aborted) {
      sampler.startDue();
      round();
      await sleep(ROUND_MS, signal);
    }
    await sampler.ended();
  },
};

/** Starts what is due and remembers what is under way. */
export function createSampler(deps: SamplerDeps, signal: AbortSignal) {
  const { inventory, stats } = deps;
  const running = new Map<string, Promise<void>>();
  const triedAt = new Map<string, number>();

  const isDue = (id: string, at: number) => {
    if (running.has(id)) return false;
    const tried = triedAt.get(id);
    if (tried !== undefined && at - tried < SAMPLE_MS) return false;
    return stats.get(id) === undefined || stats.isWanted(id);
  };

  return {
    /** Starts samples of what is due, as many at a time as the engine stands. */
    startDue(): void {
      if (!inventory.live) return;
      const at = deps.now().getTime();
      const present = new Set<string>();
      for (const { id, state } of inventory.list()) {
        if (state !== "running") continue;
        present.add(id);
        if (running.size >= SAMPLES_MAX || !isDue(id, at)) continue;
        triedAt.set(id, at);
        running.set(id, sample(deps, id, signal).finally(() => running.delete(id)));
      }
      for (const id of triedAt.keys()) if (!present.has(id)) triedAt.delete(id);
    },
    /** When everything under way has ended. */
    async ended(): Promise<void> {
      await Promise.all(running.values());
    },
  };
}

async function sample(deps: SamplerDeps, id: string, signal: AbortSignal): Promise<void> {
  try {
    const stats = await sampleContainer(deps, id, signal);
    // It may have stopped meanwhile, and what it used is no longer so.
    if (stats && deps.inventory.get(id)?.state === "running") deps.stats.put(id, stats);
  } catch (error) {
    if (signal.aborted) return;
    const expected = error instanceof EngineError || error instanceof EngineUnreachableError ||
      (error as Error).name === "TimeoutError";
    deps.log[expected ? "debug" : "error"]("sample failed", { id, error: String(error) });
  }
}

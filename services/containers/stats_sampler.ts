/** The worker that samples every running container every 15 seconds. @module */

import { EngineError, EngineUnreachableError } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import type { Container } from "./inventory.ts";
import type { Worker } from "../lifecycle.ts";
import { sleep } from "../waiting.ts";
import { isUp } from "./reads.ts";
import { sampleContainer } from "./stats.ts";

/** Interval between the samples of a container, in milliseconds. */
const SAMPLE_MS = 15_000;

/** Interval at which due samples are started, in milliseconds; a new container is sampled soon. */
const ROUND_MS = 1_000;

/** Parallel samples. Each takes the engine one to two seconds, mostly waiting. */
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

/** Starts due samples and keeps track of running ones. */
export function createSampler(deps: SamplerDeps, signal: AbortSignal) {
  const { inventory } = deps;
  const running = new Map<string, Promise<void>>();
  // A restarted container has lost its stats and is sampled at once.
  const tries = new Map<string, { at: number; startedAt: string | null }>();

  const isDue = ({ id, startedAt }: Container, at: number) => {
    if (running.has(id)) return false;
    const last = tries.get(id);
    return !last || last.startedAt !== startedAt || Math.abs(at - last.at) >= SAMPLE_MS;
  };

  return {
    /** Starts the samples that are due, up to the limit of parallel ones. */
    startDue(): void {
      if (!inventory.live) return;
      const at = deps.now().getTime();
      const present = new Set<string>();
      for (const container of inventory.list()) {
        const { id, startedAt } = container;
        // A paused container is sampled as well, because it still uses memory.
        if (!isUp(container)) continue;
        present.add(id);
        if (running.size >= SAMPLES_MAX || !isDue(container, at)) continue;
        tries.set(id, { at, startedAt });
        running.set(id, sample(deps, id, signal).finally(() => running.delete(id)));
      }
      for (const id of tries.keys()) if (!present.has(id)) tries.delete(id);
    },
    /** Resolves when all running samples have ended. */
    async ended(): Promise<void> {
      await Promise.all(running.values());
    },
  };
}

async function sample(deps: SamplerDeps, id: string, signal: AbortSignal): Promise<void> {
  try {
    const stats = await sampleContainer(deps, id, signal);
    const container = deps.inventory.get(id);
    // It may have stopped in the meantime.
    if (stats && container && isUp(container)) deps.stats.put(id, stats);
  } catch (error) {
    if (signal.aborted) return;
    const expected = error instanceof EngineError || error instanceof EngineUnreachableError ||
      (error as Error).name === "TimeoutError";
    deps.log[expected ? "debug" : "error"]("sample failed", { id, error: String(error) });
  }
}

/**
 * Samples the running containers that somebody needs figures of, and every one once after its
 * start, so that a first look at it finds figures.
 *
 * @module
 */

import { EngineError, EngineUnreachableError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import type { Container } from "../../inventory.ts";
import { sleep, type Worker } from "../../lifecycle.ts";
import { sampleContainer } from "../container_stats.ts";

/** How often a container that is needed is sampled, in milliseconds. */
const SAMPLE_MS = 15_000;

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
  // A container that started anew has lost its figures and does not wait for its next turn.
  const tries = new Map<string, { at: number; startedAt: string | null }>();

  const isDue = ({ id, startedAt }: Container, at: number) => {
    if (running.has(id)) return false;
    const last = tries.get(id);
    if (last && last.startedAt === startedAt && at - last.at < SAMPLE_MS) return false;
    return stats.get(id) === undefined || stats.isWanted(id);
  };

  return {
    /** Starts samples of what is due, as many at a time as the engine stands. */
    startDue(): void {
      if (!inventory.live) return;
      const at = deps.now().getTime();
      const present = new Set<string>();
      for (const container of inventory.list()) {
        const { id, state, startedAt } = container;
        if (state !== "running") continue;
        present.add(id);
        if (running.size >= SAMPLES_MAX || !isDue(container, at)) continue;
        tries.set(id, { at, startedAt });
        running.set(id, sample(deps, id, signal).finally(() => running.delete(id)));
      }
      for (const id of tries.keys()) if (!present.has(id)) tries.delete(id);
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

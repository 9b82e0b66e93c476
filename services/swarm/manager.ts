/** Whether the engine is a swarm manager, cached for a few seconds. @module */

import type { Engine } from "../../engine/client.ts";
import { EngineError } from "../../engine/errors.ts";
import { systemInfo } from "../../engine/system.ts";

/** Time for which an answer is cached, in milliseconds. */
const CACHE_MS = 5_000;

export type SwarmManager = ReturnType<typeof createSwarmManager>;

export function createSwarmManager(engine: Engine, now: () => Date) {
  let cached: { isActive: boolean; atMs: number } | undefined;
  let pending: Promise<boolean> | undefined;

  const current = () => cached && now().getTime() - cached.atMs < CACHE_MS ? cached : undefined;

  async function request(): Promise<boolean> {
    const isActive = await isManager(engine);
    cached = { isActive, atMs: now().getTime() };
    return isActive;
  }

  let changes: Promise<unknown> = Promise.resolve();

  return {
    /** Does work after all that was begun before has ended. */
    inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
      const result = changes.then(work);
      changes = result.catch(() => {});
      return result;
    },
    /** Whether the engine manages a swarm; asks the engine at most every few seconds. */
    isActive: async (): Promise<boolean> =>
      current()?.isActive ?? await (pending ??= request().finally(() => pending = undefined)),
    /** Whether a recent answer says that the engine does not manage a swarm. Never asks the engine. */
    isKnownInactive: (): boolean => current()?.isActive === false,
    /** The last answer, however old. Never asks the engine: the swarm watcher does so each minute. */
    wasActive: (): boolean => cached?.isActive === true,
    /** Discards the cached answer. */
    invalidate: (): void => void (cached = undefined),
  };
}

async function isManager(engine: Engine): Promise<boolean> {
  try {
    const { Swarm } = await systemInfo(engine);
    return Swarm?.LocalNodeState === "active" && Swarm.ControlAvailable === true;
  } catch (error) {
    if (error instanceof EngineError) return false;
    throw error;
  }
}

/** Waits while the managers of a swarm elect a leader. @module */

import { sleep } from "../waiting.ts";
import { hasNoLeader } from "./access.ts";

/** Longest wait, in milliseconds. An election takes some seconds. */
const LEADER_MAX_MS = 10 * 60_000;

/** Interval of attempts, in milliseconds. */
const ATTEMPT_MS = 1_000;

/**
 * Repeats `work` while the swarm has no leader. The failed attempt may have changed something.
 *
 * @throws {EngineError} If there still is none after ten minutes.
 */
export async function awaitLeader<Result>(
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const deadline = performance.now() + LEADER_MAX_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!hasNoLeader(error) || performance.now() > deadline) throw error;
    }
    await sleep(ATTEMPT_MS, signal);
    signal.throwIfAborted();
  }
}

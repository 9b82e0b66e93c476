/** Fetches of repositories: one at a time for each, and those that a webhook or a user requests. @module */

import type { ProjectRunner } from "../compose/loader.ts";
import { createLimiter } from "../limiter.ts";
import { createOutboxSignal } from "../events/outbox_signal.ts";

/** Deliveries of webhooks that are remembered; older ones only cost a request for the ref. */
const DELIVERIES_MAX = 2_000;

/** Fetches of packs at the same time, each of which may take some hundred megabytes. */
const FETCHES_MAX = 2;

/** Time for which one refused delivery of a repository is logged, in milliseconds. */
const REFUSALS_MS = 60_000;

/** Pause of a deploy that could not start, in milliseconds. */
const PAUSE_MS = 5 * 60_000;

export type GitRounds = ReturnType<typeof createGitRounds>;

/** @param startReader Starts the worker that fetches and reads one repository. */
export function createGitRounds(startReader: () => Promise<ProjectRunner>) {
  const signal = createOutboxSignal();
  const requested = new Set<string>();
  const running = new Map<string, Promise<unknown>>();
  const deliveries = new Set<string>();
  const refusals = new Map<string, { until: number; count: number }>();
  const paused = new Map<string, number>();
  const limit = createLimiter({ what: "fetches", running: FETCHES_MAX, waiting: Infinity });

  return {
    startReader,
    /** Lets the worker check the repository soon. */
    request(id: string): void {
      requested.add(id);
      signal.notify();
    },
    /** Lets the worker check it in its next round. */
    requestLater: (id: string): void => void requested.add(id),
    /** The requested repositories, each once. */
    takeRequested(): string[] {
      const ids = [...requested];
      requested.clear();
      return ids;
    },
    /** Lets the worker look at the stacks soon. */
    notify: signal.notify,
    /** Waits for a request, for at most `ms`. For one waiter. */
    wait: signal.wait,
    /** Runs work that takes much memory, with few others at the same time. */
    limit,
    /** Runs after what is running for the repository. */
    async run<Result>(id: string, work: () => Promise<Result>): Promise<Result> {
      const before = running.get(id) ?? Promise.resolve();
      const own = before.catch(() => {}).then(work);
      running.set(id, own);
      try {
        return await own;
      } finally {
        if (running.get(id) === own) running.delete(id);
      }
    },
    /** Lets an attempt, e.g. `shop 3`, wait for some minutes. */
    pause(attempt: string, now: Date): void {
      for (const [key, until] of paused) if (until <= now.getTime()) paused.delete(key);
      paused.set(attempt, now.getTime() + PAUSE_MS);
    },
    isPaused: (attempt: string, now: Date): boolean => (paused.get(attempt) ?? 0) > now.getTime(),
    /** Lets deliveries of a repository count again: its fetch failed, or it has another commit now. */
    forgetDeliveries(id: string): void {
      for (const key of deliveries) if (key.startsWith(`${id} `)) deliveries.delete(key);
    },
    /**
     * Counts a refused delivery of a repository.
     *
     * @returns The number since the last one that was logged, with this one; `undefined` for a minute.
     */
    countRefusal(id: string, now: Date): number | undefined {
      const at = now.getTime();
      const known = refusals.get(id);
      if (known && at < known.until) return void known.count++;
      const count = (known?.count ?? 0) + 1;
      refusals.set(id, { until: at + REFUSALS_MS, count: 0 });
      return count;
    },
    /** Remembers the delivery of a webhook. @returns Whether it is new. */
    isNewDelivery(key: string): boolean {
      if (deliveries.has(key)) return false;
      deliveries.add(key);
      if (deliveries.size > DELIVERIES_MAX) deliveries.delete(deliveries.values().next().value!);
      return true;
    },
  };
}

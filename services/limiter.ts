/** Limits how many expensive operations run at the same time. @module */

import { ThrottledError } from "./errors.ts";

/** Runs `work` when fewer operations than the limit are running. */
export type Limiter = <Result>(work: () => Promise<Result>) => Promise<Result>;

interface LimiterOptions {
  /** Names the operations in the error message, e.g. `"log searches"`. */
  what: string;
  /** Limit of operations that run at the same time. */
  running: number;
  /** Limit of operations that wait, in the order of the calls. */
  waiting: number;
  /** When a refused caller may try again, in seconds. */
  retryAfterS?: number;
  /** Creates the error for a call beyond both limits; default: a {@linkcode ThrottledError}. */
  busy?: () => Error;
}

export function createLimiter(
  {
    what,
    running,
    waiting,
    retryAfterS = 5,
    busy = () => new ThrottledError(`Too many ${what} at the same time`, retryAfterS),
  }: LimiterOptions,
): Limiter {
  let inside = 0;
  const queue: (() => void)[] = [];

  return async (work) => {
    if (inside < running) inside++;
    else if (queue.length < waiting) await new Promise<void>((enter) => queue.push(enter));
    else throw busy();
    try {
      return await work();
    } finally {
      // The next waiting operation takes over the slot.
      const enter = queue.shift();
      if (enter) enter();
      else inside--;
    }
  };
}

/**
 * A bound on how much of an expensive work goes on at the same time.
 *
 * @module
 */

import { ThrottledError } from "./errors.ts";

/** Runs work as soon as there is room for it. */
export type Limiter = <Result>(work: () => Promise<Result>) => Promise<Result>;

/**
 * @param what For the message, e.g. `"log searches"`.
 * @param running Most works at the same time.
 * @param waiting Most that wait for their turn, in the order in which they came.
 * @returns A gate that throws {@linkcode ThrottledError} when too many wait already.
 */
export function createLimiter(
  { what, running, waiting, retryAfterS = 5 }: {
    what: string;
    running: number;
    waiting: number;
    retryAfterS?: number;
  },
): Limiter {
  let inside = 0;
  const queue: (() => void)[] = [];

  return async (work) => {
    if (inside < running) inside++;
    else if (queue.length < waiting) await new Promise<void>((enter) => queue.push(enter));
    else throw new ThrottledError(`Too many ${what} at the same time`, retryAfterS);
    try {
      return await work();
    } finally {
      // Who waits takes over the place.
      const enter = queue.shift();
      if (enter) enter();
      else inside--;
    }
  };
}

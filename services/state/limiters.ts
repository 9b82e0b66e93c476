/**
 * Limits of expensive requests.
 *
 * @module
 */

import { yieldToEventLoop } from "../event_loop.ts";
import { createLimiter, type Limiter } from "../limiter.ts";

export interface Limiters {
  commands: Limiter;
  /** Each log takes up to 32 MiB while it is read. */
  logReads: Limiter;
  logSearches: Limiter;
  /** Waits until the caller is the only search that continues in this turn of the event loop. */
  nextSearchSlice: () => Promise<void>;
}

export const createLimiters = (): Limiters => ({
  commands: createLimiter({ what: "commands", running: 16, waiting: 64 }),
  logReads: createLimiter({ what: "log reads", running: 8, waiting: 128 }),
  logSearches: createLimiter({ what: "log searches", running: 4, waiting: 32 }),
  nextSearchSlice: createTurns(),
});

/** Each caller waits for one turn of the event loop that begins after the previous caller's turn. */
function createTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => last = last.then(yieldToEventLoop);
}

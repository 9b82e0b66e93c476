/**
 * Limits of expensive requests.
 *
 * @module
 */

import { createLimiter, type Limiter } from "../limiter.ts";

export interface Limiters {
  commands: Limiter;
  /** Each log takes up to 32 MiB while it is read. */
  logReads: Limiter;
  logSearches: Limiter;
  /** Parallel searches take turns, so that together they block the event loop no longer than one. */
  searchSlices: Limiter;
}

export const createLimiters = (): Limiters => ({
  commands: createLimiter({ what: "commands", running: 16, waiting: 64 }),
  logReads: createLimiter({ what: "log reads", running: 8, waiting: 128 }),
  logSearches: createLimiter({ what: "log searches", running: 4, waiting: 32 }),
  searchSlices: createLimiter({ what: "search slices", running: 1, waiting: Infinity }),
});

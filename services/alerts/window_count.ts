/** Counts what happened within the last seconds, in at most 61 numbers whatever happens. @module */

import type { WindowCount } from "./memory.ts";

/** Parts of a window: it ends up to one part late. */
const PARTS = 60;

export function createWindowCount(windowSeconds: number): WindowCount {
  const partMs = Math.max(1000, windowSeconds * 1000 / PARTS);
  const windowMs = windowSeconds * 1000;
  let parts: { from: number; count: number }[] = [];

  return {
    add(at, count = 1) {
      const from = Math.floor(at / partMs) * partMs;
      const last = parts.at(-1);
      if (last?.from === from) last.count += count;
      else parts.push({ from, count });
      if (parts.length > PARTS + 1) parts.shift();
    },
    total(at) {
      // A part of the future comes from a clock that was set back.
      parts = parts.filter(({ from }) => from + partMs > at - windowMs && from <= at);
      return parts.reduce((sum, { count }) => sum + count, 0);
    },
  };
}

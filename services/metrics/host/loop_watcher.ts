/**
 * The worker that measures how long the event loop is blocked, by how late a timer fires.
 *
 * @module
 */

import type { Worker } from "../../lifecycle.ts";
import { sleep } from "../../waiting.ts";

const ROUND_MS = 1_000;

export const loopWatcher: Worker = {
  name: "event loop watcher",
  edition: "ce",
  async run({ vitals }, signal, round) {
    while (!signal.aborted) {
      const began = performance.now();
      await sleep(ROUND_MS, signal);
      if (signal.aborted) return;
      vitals.recordTimerLag(performance.now() - began - ROUND_MS);
      round();
    }
  },
};

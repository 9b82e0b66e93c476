/**
 * Notices when the process is too busy with one thing to turn to the others: a timer then ends
 * late.
 *
 * @module
 */

import { sleep, type Worker } from "../../lifecycle.ts";

const ROUND_MS = 1_000;

export const loopWatcher: Worker = {
  name: "event loop watcher",
  edition: "ce",
  async run({ vitals }, signal, round) {
    while (!signal.aborted) {
      const began = performance.now();
      await sleep(ROUND_MS, signal);
      if (signal.aborted) return;
      vitals.timerEnded(performance.now() - began - ROUND_MS);
      round();
    }
  },
};

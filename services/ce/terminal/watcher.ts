/**
 * Checks the open terminals every second: a revoked login ends its terminals.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";

const ROUND_MS = 1_000;

export const terminalWatcher: Worker = {
  name: "terminal watcher",
  edition: "ce",
  async run({ terminals }, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      terminals.check();
      round();
    }
  },
};

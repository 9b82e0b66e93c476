/** Checks the open terminals every second: a revoked login ends its terminals. @module */

import { rounds, type Worker } from "../../lifecycle.ts";

const ROUND_MS = 1_000;

export const terminalWatcher: Worker = {
  name: "terminal watcher",
  edition: "ce",
  run: rounds(ROUND_MS, ({ terminals }) => terminals.check()),
};

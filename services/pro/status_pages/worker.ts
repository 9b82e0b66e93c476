/**
 * Updates status pages: starts and completes maintenances, updates components from their monitors,
 * and deletes old notices and unconfirmed subscriptions.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { reconcileComponents } from "./components.ts";
import { advanceMaintenances } from "./maintenances.ts";
import { sweepNotices } from "./notices.ts";
import { sweepUnconfirmed } from "./subscriptions.ts";

const ROUND_MS = 30_000;

export const statusPageUpdater: Worker = {
  name: "status page updater",
  edition: "pro",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      advanceMaintenances(deps);
      reconcileComponents(deps);
      sweepNotices(deps);
      sweepUnconfirmed(deps);
      round();
    }
  },
};

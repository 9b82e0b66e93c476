/**
 * Keeps status pages current: starts and completes maintenances, has components follow their
 * monitors, and deletes what is no longer needed.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { followMonitors } from "./components.ts";
import { advanceMaintenances } from "./maintenances.ts";
import { sweepNotices } from "./notices.ts";
import { sweepUnconfirmed } from "./subscriptions.ts";

const ROUND_MS = 30_000;

export const statusPageKeeper: Worker = {
  name: "status page keeper",
  edition: "pro",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      advanceMaintenances(deps);
      followMonitors(deps);
      sweepNotices(deps);
      sweepUnconfirmed(deps);
      round();
    }
  },
};

/**
 * Keeps status pages current: starts and completes maintenances, has components follow their
 * monitors, and deletes what is no longer needed.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { followMonitors } from "../status_page_components.ts";
import { advanceMaintenances } from "../status_page_maintenances.ts";
import { sweepNotices } from "../status_page_notices.ts";
import { sweepUnconfirmed } from "../status_page_subscriptions.ts";

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

/**
 * Updates status pages: starts and completes maintenances, updates components from their monitors,
 * and deletes old notices and unconfirmed subscriptions.
 *
 * @module
 */

import { rounds } from "../../lifecycle.ts";
import { reconcileComponents } from "./components.ts";
import { advanceMaintenances } from "./maintenances.ts";
import { sweepNotices } from "./notices.ts";
import { sweepUnconfirmed } from "./subscriptions.ts";

const ROUND_MS = 30_000;

export const updateStatusPages = rounds(ROUND_MS, (deps) => {
  advanceMaintenances(deps);
  reconcileComponents(deps);
  sweepNotices(deps);
  sweepUnconfirmed(deps);
});

/**
 * Updates status pages: starts and completes maintenances, updates components from their monitors,
 * and deletes old notices and unconfirmed subscriptions.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { every } from "../../lifecycle.ts";
import { reconcileComponents } from "./components.ts";
import { advanceMaintenances } from "./maintenances.ts";
import { sweepNotices } from "./notices.ts";
import { sweepUnconfirmed } from "./subscriptions.ts";

const ROUND_MS = 30_000;

export async function updateStatusPages(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  for await (const _ of every(ROUND_MS, signal)) {
    advanceMaintenances(deps);
    reconcileComponents(deps);
    sweepNotices(deps);
    sweepUnconfirmed(deps);
    round();
  }
}

/**
 * Resolves incidents whose cause has ended, and deletes old ones.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { resolveOrphanedIncidents } from "./automatic.ts";
import { sweepIncidents } from "./incidents.ts";

const ROUND_MS = 60_000;

export const incidentReconciler: Worker = {
  name: "incident reconciler",
  edition: "pro",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      resolveOrphanedIncidents(deps);
      sweepIncidents(deps);
      round();
    }
  },
};

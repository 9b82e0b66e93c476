/** Resolves incidents whose cause has ended, and deletes old ones. @module */

import { rounds } from "../../lifecycle.ts";
import { resolveOrphanedIncidents } from "./automatic.ts";
import { sweepIncidents } from "./incidents.ts";

const ROUND_MS = 60_000;

export const reconcileIncidents = rounds(ROUND_MS, (deps) => {
  resolveOrphanedIncidents(deps);
  sweepIncidents(deps);
});

/**
 * Keeps incidents in step with what they came from, and their number bounded.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { resolveOrphanedIncidents } from "./automatic.ts";
import { sweepIncidents } from "./incidents.ts";

const ROUND_MS = 60_000;

export const incidentKeeper: Worker = {
  name: "incident keeper",
  edition: "pro",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      resolveOrphanedIncidents(deps);
      sweepIncidents(deps);
      round();
    }
  },
};

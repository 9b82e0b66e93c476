/**
 * Looks at the alert rules again and again.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { evaluateAlerts } from "./evaluation.ts";

/** As often as the host is sampled: an alert is at most two rounds late. In milliseconds. */
const ROUND_MS = 5_000;

export const alertEvaluator: Worker = {
  name: "alert evaluator",
  edition: "ce",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      evaluateAlerts(deps);
      round();
    }
  },
};

/**
 * The worker that evaluates the alert rules.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { evaluateAlerts } from "./evaluation.ts";

/** Same as the interval of the host samples, in milliseconds. An alert is at most two rounds late. */
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

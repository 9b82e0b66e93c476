/** The worker that evaluates the alert rules. @module */

import type { Deps } from "../deps.ts";
import type { Worker } from "../lifecycle.ts";
import { every } from "../waiting.ts";
import { reportDiskFullSoon } from "./disk_full_soon.ts";
import { evaluateAlerts } from "./evaluation.ts";
import { recordOom } from "./occurrences.ts";
import { refreshReadings } from "./readings.ts";
import { watchedRules } from "./watched_rules.ts";

/** Same as the interval of the host samples, in milliseconds. An alert is at most two rounds late. */
const ROUND_MS = 5_000;

/** Interval of the predictions of the disk, in milliseconds. */
const PREDICTION_MS = 5 * 60_000;

export const alertEvaluator: Worker = {
  name: "alert evaluator",
  edition: "ce",
  async run(deps, signal, round) {
    const stop = new AbortController();
    const counting = countOoms(deps, AbortSignal.any([signal, stop.signal]));
    try {
      for await (const _ of every(ROUND_MS, signal)) {
        await runAlertRound(deps);
        round();
      }
    } finally {
      // After a failure the next run counts again.
      stop.abort();
      await counting;
    }
  },
};

/** Reads what the rules need and evaluates them. */
export async function runAlertRound(deps: Deps): Promise<void> {
  await refreshReadings(deps);
  const isLogWatched = deps.alerts.logRuns !== undefined ||
    watchedRules(deps).some(({ rule }) => rule.pattern !== null);
  // Few installations watch logs.
  if (isLogWatched) await (await import("./log_watches.ts")).refreshLogWatches(deps);
  evaluateAlerts(deps);
  const at = deps.now().getTime();
  if (Math.abs(at - deps.alerts.predictedAt) < PREDICTION_MS) return;
  deps.alerts.predictedAt = at;
  reportDiskFullSoon(deps);
}

async function countOoms(deps: Deps, signal: AbortSignal): Promise<void> {
  for await (const { event, data } of deps.events.subscribe(signal)) {
    if (event === "container.oom") recordOom(deps, data.id);
  }
}

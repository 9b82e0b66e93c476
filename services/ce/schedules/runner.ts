/**
 * Runs the schedules when they fall due.
 *
 * @module
 */

import { sleep, type Worker } from "../../lifecycle.ts";
import { createRunStarter, recoverRuns } from "./runs.ts";

const MINUTE_MS = 60_000;

/** Longest sleep, in milliseconds: after it, a leap of the clock is noticed. */
const SLEEP_MAX_MS = 15_000;

export const scheduleRunner: Worker = {
  name: "schedule runner",
  edition: "ce",
  async run(deps, signal, round) {
    recoverRuns(deps);
    const runs = createRunStarter(deps);
    // What fell due before is not made up for.
    let since = deps.now();
    try {
      while (!signal.aborted) {
        await sleep(untilNextLook(deps.now()), signal);
        const until = deps.now();
        if (signal.aborted) break;
        if (hasNewMinute(since, until)) runs.startDue(since, until);
        since = until;
        round();
      }
    } finally {
      await runs.close();
    }
  },
};

/** Schedules fall due when a minute begins, in every time zone. */
export function untilNextLook(now: Date): number {
  return Math.min(MINUTE_MS - now.getTime() % MINUTE_MS, SLEEP_MAX_MS);
}

/** Whether a minute begins after `since` and not after `until`. */
export function hasNewMinute(since: Date, until: Date): boolean {
  return Math.floor(until.getTime() / MINUTE_MS) > Math.floor(since.getTime() / MINUTE_MS);
}

/** The worker that runs schedules when they are due. @module */

import type { Worker } from "../../lifecycle.ts";
import { sleep } from "../../waiting.ts";
import { reportOverdueBackups } from "../backups/overdue.ts";
import { createRunStarter, recoverRuns } from "./runs.ts";

const MINUTE_MS = 60_000;

/** Longest sleep, in milliseconds; bounds how late a clock jump is detected. */
const SLEEP_MAX_MS = 15_000;

export const scheduleRunner: Worker = {
  name: "schedule runner",
  edition: "ce",
  async run(deps, signal, round) {
    recoverRuns(deps);
    const runs = createRunStarter(deps);
    // Schedules that were due before the start are skipped.
    let since = deps.now();
    try {
      while (!signal.aborted) {
        await sleep(msUntilNextRound(deps.now()), signal);
        const until = deps.now();
        if (signal.aborted) break;
        if (hasNewMinute(since, until)) {
          runs.startDue(since, until);
          await reportOverdueBackups(deps);
        }
        since = until;
        round();
      }
    } finally {
      await runs.close();
    }
  },
};

/** Schedules are due at the beginning of a minute, in every time zone. */
export function msUntilNextRound(now: Date): number {
  return Math.min(MINUTE_MS - now.getTime() % MINUTE_MS, SLEEP_MAX_MS);
}

/** Whether a minute begins after `since` and no later than `until`. */
export function hasNewMinute(since: Date, until: Date): boolean {
  return Math.floor(until.getTime() / MINUTE_MS) > Math.floor(since.getTime() / MINUTE_MS);
}

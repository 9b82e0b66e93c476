/**
 * Checks the monitors when they are due.
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import { every, type Worker } from "../../lifecycle.ts";
import { errorFields } from "../../log.ts";
import { checkMonitor } from "./checks.ts";
import { dueMonitors } from "./schedule.ts";

/** How late a check may begin, in milliseconds. */
const ROUND_MS = 500;

export const uptimeProber: Worker = {
  name: "uptime prober",
  edition: "pro",
  async run(deps, signal, round) {
    const aliveSince = deps.now();
    const running = new Set<Promise<unknown>>();
    // No round waits for a check: a target that does not answer delays no other.
    const start = (monitorId: string) => {
      const check = checkMonitor(deps, monitorId)
        .catch((error) => {
          // Something changed meanwhile, or its secrets cannot be read: the next round sees to it.
          const isExpected = error instanceof AppError;
          deps.log[isExpected ? "warn" : "error"]("check failed", {
            monitorId,
            ...(isExpected ? { reason: error.message } : errorFields(error)),
          });
        })
        .finally(() => running.delete(check));
      running.add(check);
    };

    for await (const _ of every(ROUND_MS, signal)) {
      for (const id of dueMonitors(deps, aliveSince)) start(id);
      round();
    }
    deps.checks.stopAll();
    await Promise.all(running);
  },
};

/** Checks the monitors when they are due. @module */

import { AppError } from "../../errors.ts";
import type { Deps } from "../../deps.ts";
import { every } from "../../waiting.ts";
import { errorFields } from "../../log.ts";
import { checkMonitor } from "./checks.ts";
import { dueMonitors } from "./schedule.ts";

/** Maximum delay of a check, in milliseconds. */
const ROUND_MS = 500;

export async function probeMonitors(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const startedAt = deps.now();
  const running = new Set<Promise<unknown>>();
  // Rounds do not wait for checks, so that a slow target does not delay others.
  const start = (monitorId: string) => {
    const check = checkMonitor(deps, monitorId)
      .catch((error) => {
        // The monitor was changed, or its secrets cannot be decrypted; the next round retries.
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
    for (const id of dueMonitors(deps, startedAt)) start(id);
    round();
  }
  deps.checks.stopAll();
  await Promise.all(running);
}

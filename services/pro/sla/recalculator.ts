/**
 * Recalculates the periods of SLA definitions: every minute, at midnight UTC, and when a monitor
 * goes down or up.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { sleep } from "../../waiting.ts";
import { type PeriodDeps, recalculateAll, recalculateMonitor } from "./periods.ts";

const ROUND_MS = 60_000;
const DAY_MS = 24 * 60 * 60 * 1000;

export async function recalculateSlas(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const end = new AbortController();
  const ended = AbortSignal.any([signal, end.signal]);
  const following = followMonitors(deps, ended).finally(() => end.abort());
  try {
    while (!ended.aborted) {
      await recalculateAll(deps, ended);
      round();
      await sleep(untilNextRound(deps.now()), ended);
    }
  } finally {
    end.abort();
    await following;
  }
}

/** Milliseconds until the next round, at the latest midnight UTC, when periods end. */
export function untilNextRound(now: Date): number {
  return Math.min(ROUND_MS, DAY_MS - now.getTime() % DAY_MS);
}

/** Recalculates the affected definitions when a monitor changes, until `signal` aborts. */
async function followMonitors(deps: PeriodDeps, signal: AbortSignal): Promise<void> {
  for await (const { event, data } of deps.events.subscribe(signal)) {
    if (event === "monitor.down" || event === "monitor.up") {
      await recalculateMonitor(deps, data.monitorId, signal);
    }
  }
}

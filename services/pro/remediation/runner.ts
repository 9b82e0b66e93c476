/**
 * Evaluates the remediation rules regularly, and shortly after a container stops or gets unhealthy.
 *
 * @module
 */

import { eventKind } from "../../events/kinds/mod.ts";
import type { Deps } from "../../deps.ts";
import { every, sleep } from "../../waiting.ts";
import { createRemediator, recoverRemediations, sweepRemediationRuns } from "./runs.ts";
import { DOWN_SETTLES_MS } from "./metrics.ts";

/** The interval of the host metrics, in milliseconds. */
const ROUND_MS = 5_000;

const SWEEP_MS = 60 * 60 * 1000;

/** Delay of the evaluation after an event: a little longer than `DOWN_SETTLES_MS`. */
const REACTION_MS = DOWN_SETTLES_MS + 250;

export async function runRemediations(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  recoverRemediations(deps);
  const remediator = createRemediator(deps);
  const failed = new AbortController();
  const ended = AbortSignal.any([signal, failed.signal]);
  const evaluate = () => {
    remediator.evaluate();
    round();
  };

  const poll = async () => {
    for await (const _ of every(ROUND_MS, ended)) evaluate();
  };
  const react = async () => {
    let evaluatedAt = 0;
    for await (const { event, timestamp } of deps.events.subscribe(ended)) {
      // The last evaluation covered earlier events.
      if (!eventKind(event).isRemediable || Date.parse(timestamp) < evaluatedAt) continue;
      await sleep(REACTION_MS, ended);
      if (ended.aborted) return;
      evaluatedAt = deps.now().getTime() - REACTION_MS;
      evaluate();
    }
  };
  const sweep = async () => {
    for await (const _ of every(SWEEP_MS, ended)) sweepRemediationRuns(deps);
  };
  const all = [poll(), react(), sweep()].map((loop) =>
    loop.catch((error) => {
      failed.abort();
      throw error;
    })
  );
  try {
    await Promise.all(all);
  } finally {
    await Promise.allSettled(all);
    await remediator.close();
  }
}

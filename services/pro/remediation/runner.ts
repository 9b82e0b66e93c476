/**
 * Looks at the remediation rules again and again, and at once when something happens to a
 * container.
 *
 * @module
 */

import type { EventKind } from "../../events/events.ts";
import { every, sleep, type Worker } from "../../lifecycle.ts";
import { createRemediator, recoverRemediations, sweepRemediationRuns } from "./runs.ts";
import { DOWN_SETTLES_MS } from "./values.ts";

/** As often as the host is sampled, in milliseconds. */
const ROUND_MS = 5_000;

const SWEEP_MS = 60 * 60 * 1000;

/** A little more than an end of a container takes to settle, in milliseconds. */
const REACTION_MS = DOWN_SETTLES_MS + 250;

const REASONS_TO_LOOK: readonly EventKind[] = ["container.down", "container.unhealthy"];

export const remediationRunner: Worker = {
  name: "remediation runner",
  edition: "pro",
  async run(deps, signal, round) {
    recoverRemediations(deps);
    const remediator = createRemediator(deps);
    const failed = new AbortController();
    const ended = AbortSignal.any([signal, failed.signal]);
    const look = () => {
      remediator.look();
      round();
    };

    const poll = async () => {
      for await (const _ of every(ROUND_MS, ended)) look();
    };
    const react = async () => {
      let lookedAt = 0;
      for await (const { event, timestamp } of deps.events.subscribe(ended)) {
        // Events of before the last look were seen by it.
        if (!REASONS_TO_LOOK.includes(event) || Date.parse(timestamp) < lookedAt) continue;
        await sleep(REACTION_MS, ended);
        if (ended.aborted) return;
        lookedAt = deps.now().getTime() - REACTION_MS;
        look();
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
  },
};

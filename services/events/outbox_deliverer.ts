/** Delivers the messages of the outbox when they are due. @module */

import { yieldToEventLoop } from "../waiting.ts";
import { createDeliverer } from "./outbox.ts";
import type { Worker } from "../lifecycle.ts";

/** Longest wait between two rounds, in milliseconds; the clock may have been changed. */
const ROUND_MS = 5_000;

export const outboxDeliverer: Worker = {
  name: "outbox deliverer",
  edition: "ce",
  async run(deps, signal, round) {
    const deliverer = createDeliverer(deps, { signal });
    try {
      while (!signal.aborted) {
        const nextMs = deliverer.start() ?? ROUND_MS;
        round();
        await deps.outbox.wait(Math.min(nextMs, ROUND_MS), signal);
        // Requests are served between rounds, and one round does the work of all of them.
        await yieldToEventLoop();
      }
    } finally {
      await deliverer.idle();
    }
  },
};

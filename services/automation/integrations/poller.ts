/** Polls integrations when they are due. @module */

import type { Worker } from "../../lifecycle.ts";
import { every } from "../../waiting.ts";
import { errorFields } from "../../log.ts";
import { duePolls } from "./due.ts";
import { pollIntegration } from "./polls.ts";

/** Maximum delay of a poll, in milliseconds. */
const ROUND_MS = 1_000;

export const integrationPoller: Worker = {
  name: "integration poller",
  edition: "ce",
  async run(deps, signal, round) {
    const running = new Set<Promise<unknown>>();
    // Rounds do not wait for polls, so that a slow system does not delay others.
    const start = (integrationId: string) => {
      const poll = pollIntegration(deps, integrationId)
        .catch((error) => deps.log.error("poll failed", { integrationId, ...errorFields(error) }))
        .finally(() => running.delete(poll));
      running.add(poll);
    };
    try {
      for await (const _ of every(ROUND_MS, signal)) {
        duePolls(deps).forEach(start);
        round();
      }
    } finally {
      deps.polls.stopAll();
      await Promise.all(running);
    }
  },
};

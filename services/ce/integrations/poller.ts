/**
 * Polls integrations when they are due.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { errorFields } from "../../log.ts";
import { duePolls } from "./due.ts";
import { pollIntegration } from "./polls.ts";

/** How late a poll may begin, in milliseconds. */
const ROUND_MS = 1_000;

export const integrationPoller: Worker = {
  name: "integration poller",
  edition: "ce",
  async run(deps, signal, round) {
    const running = new Set<Promise<unknown>>();
    // No round waits for a poll: a slow system delays no other.
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

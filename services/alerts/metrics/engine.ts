/** The alert metric of the engine. @module */

import { metric } from "./kind.ts";

/**
 * Time after the start in which an engine that has not answered yet is not down, in milliseconds.
 */
const START_MS = 30_000;

export const engineMetrics = [
  metric("engine_down", {
    target: "host",
    description: "1 while the engine cannot be reached, otherwise 0",
    group: "Service",
    words: "engine is down",
    name: "State",
    states: ["is down", "is up"],
    stateOf: "engine",
    read({ inventory, now, startedAt }) {
      if (inventory.live || inventory.status().isUnreadable) return { value: 0 };
      const isStarting = Math.abs(now().getTime() - startedAt.getTime()) < START_MS;
      return isStarting ? { reason: "The service has just started" } : { value: 1 };
    },
  }),
];

/**
 * Records the metrics of the host and its containers, every 15 seconds of the clock.
 *
 * @module
 */

import { sleep, type Worker } from "../../lifecycle.ts";
import {
  type ContainerHistoryMemory,
  recordContainerSamples,
  sweepContainerHistory,
} from "./container_history.ts";
import { recordHostSample, SAMPLE_S, type SamplerMemory, sweepHistory } from "./history.ts";

const ROUND_MS = SAMPLE_S * 1_000;

export const metricsSampler: Worker = {
  name: "metrics sampler",
  edition: "ce",
  async run(deps, signal, round) {
    const memory: SamplerMemory = {};
    const containerMemory: ContainerHistoryMemory = {};
    while (!signal.aborted) {
      await sleep(untilNextRoundMs(deps.now()), signal);
      if (signal.aborted) return;
      recordHostSample(deps, memory);
      recordContainerSamples(deps, containerMemory);
      sweepContainerHistory(deps, containerMemory);
      sweepHistory(deps);
      round();
    }
  },
};

/** Rounds begin at multiples of 15 seconds, so that the samples of a restart join up. */
export function untilNextRoundMs(now: Date): number {
  return ROUND_MS - now.getTime() % ROUND_MS;
}

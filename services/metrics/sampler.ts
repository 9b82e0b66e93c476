/** Records metrics of the host and its containers every 15 seconds. @module */

import type { Worker } from "../lifecycle.ts";
import { sleep } from "../waiting.ts";
import {
  type ContainerSamplerState,
  recordContainerSamples,
  sweepContainerHistory,
} from "./container_history.ts";
import { type HostSamplerState, recordHostSample, SAMPLE_S, sweepHistory } from "./history.ts";

const ROUND_MS = SAMPLE_S * 1_000;

export const metricsSampler: Worker = {
  name: "metrics sampler",
  edition: "ce",
  async run(deps, signal, round) {
    const hostState: HostSamplerState = {};
    const containerState: ContainerSamplerState = {};
    while (!signal.aborted) {
      await sleep(untilNextRoundMs(deps.now()), signal);
      if (signal.aborted) return;
      recordHostSample(deps, hostState);
      recordContainerSamples(deps, containerState);
      sweepContainerHistory(deps, containerState);
      sweepHistory(deps);
      round();
    }
  },
};

/** Rounds begin at multiples of 15 seconds of the clock, also after a restart. */
export function untilNextRoundMs(now: Date): number {
  return ROUND_MS - now.getTime() % ROUND_MS;
}

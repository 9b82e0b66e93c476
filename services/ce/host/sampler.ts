/**
 * The worker that samples the host's metrics.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { sampleHost } from "./metrics.ts";

/** Time over which processor use is measured, in milliseconds. */
const ROUND_MS = 5_000;

export const hostSampler: Worker = {
  name: "host sampler",
  edition: "ce",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      await sampleHost(deps);
      round();
    }
  },
};

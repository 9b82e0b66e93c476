/** The worker that samples the host's metrics. @module */

import { rounds, type Worker } from "../../lifecycle.ts";
import { sampleHost } from "./metrics.ts";

/** Time over which processor use is measured, in milliseconds. */
const ROUND_MS = 5_000;

export const hostSampler: Worker = {
  name: "host sampler",
  edition: "ce",
  run: rounds(ROUND_MS, sampleHost),
};

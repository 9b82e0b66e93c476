/** The worker that checks log streams every second: authorization and new containers. @module */

import type { Worker } from "../../lifecycle.ts";
import { every } from "../../waiting.ts";

const ROUND_MS = 1_000;

export const logStreamKeeper: Worker = {
  name: "log stream keeper",
  edition: "ce",
  async run({ logStreams }, signal, round) {
    try {
      for await (const _ of every(ROUND_MS, signal)) {
        logStreams.tick();
        round();
      }
    } finally {
      // The server cannot shut down while a stream is open.
      if (signal.aborted) logStreams.close();
    }
  },
};

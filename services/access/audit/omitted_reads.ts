/**
 * The worker that records how many denied reads of API tokens the audit log omitted, once the hour
 * is over or the service stops.
 *
 * @module
 */

import type { OmittedReads } from "./denied_reads.ts";
import type { Deps } from "../../deps.ts";
import type { Worker } from "../../lifecycle.ts";
import { every } from "../../waiting.ts";
import { recordAudit } from "./audit.ts";

const ROUND_MS = 60 * 1000;

export const omittedReadRecorder: Worker = {
  name: "omitted read recorder",
  edition: "ce",
  async run(deps, signal, round) {
    try {
      for await (const _ of every(ROUND_MS, signal)) {
        recordOmittedReads(deps, deps.deniedReads.settle());
        round();
      }
    } finally {
      if (signal.aborted) recordOmittedReads(deps, deps.deniedReads.end());
    }
  },
};

/** Records one entry for each token and hour. */
export function recordOmittedReads(
  deps: Pick<Deps, "db" | "now">,
  omitted: readonly OmittedReads[],
): void {
  for (const { caller, startMs, count, first, last } of omitted) {
    const since = new Date(startMs).toISOString();
    recordAudit(deps, {
      caller,
      action: "reads.unlisted",
      target: "",
      targets: [first, last],
      command: `${count} more denied reads in the hour since ${since}: from ${first} to ${last}`,
      outcome: "denied",
    });
  }
}

/**
 * Maintains the compliance log. Every minute it records how many anonymous requests were omitted.
 * Once a day it deletes entries past their retention and logs the head of the chain, so that its hash
 * is also stored outside of the database.
 *
 * @module
 */

import { selectHead } from "../../../db/enterprise/compliance_logs.ts";
import type { Deps } from "../../deps.ts";
import { every } from "../../waiting.ts";
import { recordLastOmitted, recordOmitted } from "./recording.ts";
import { sweepCompliance } from "./retention.ts";

const ROUND_MS = 60 * 1000;
const DAY_ROUNDS = 24 * 60;

/** Runs until `signal` aborts. */
export async function sweepComplianceLog(
  deps: Deps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  let rounds = 0;
  try {
    for await (const _ of every(ROUND_MS, signal)) {
      await recordOmitted(deps);
      if (rounds++ % DAY_ROUNDS === 0) await sweepDay(deps, signal);
      round();
    }
  } catch (error) {
    // The retention throws if the service stops between two slices; the next run continues.
    if (!signal.aborted) throw error;
  } finally {
    await recordLastOmitted(deps);
  }
}

async function sweepDay(deps: Deps, signal: AbortSignal): Promise<void> {
  const { deleted } = await sweepCompliance(deps, { signal });
  const head = selectHead(deps.db);
  deps.log.info("compliance log", { entries: head?.sequence, headHash: head?.hash, deleted });
}

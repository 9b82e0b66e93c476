/** State of the compliance log that requests and workers share. @module */

import type { StateDatabase } from "../../../db/database.ts";
import { createAnonymousQuota } from "../anonymous_quota.ts";
import { createLimiter } from "../../limiter.ts";
import { createGroupCommit } from "../api_tokens/group_commit.ts";

export interface RetentionResult {
  deleted: number;
  retention_days: number;
  /** Whether entries were deleted, so that the log now continues from an anchor. */
  chain_anchor_recorded: boolean;
}

export type ComplianceState = ReturnType<typeof createComplianceState>;

export function createComplianceState(db: StateDatabase) {
  return {
    /** Appends entries. */
    commit: createGroupCommit(db),
    /** Runs verifications one after another: in parallel they would not be faster. */
    verify: createLimiter({ what: "verifications", running: 1, waiting: 8, retryAfterS: 30 }),
    /** The retention run in progress. */
    retention: undefined as Promise<RetentionResult> | undefined,
    /** Limits the entries about callers without a valid token. */
    quotas: {
      /** Separate, so that other requests cannot hide failed logins. */
      logins: createAnonymousQuota({ ofClient: 100, ofMinute: 2_000 }),
      others: createAnonymousQuota({ ofClient: 10, ofMinute: 600, ofDay: 20_000 }),
    },
  };
}

/**
 * State of the compliance log that requests and workers share.
 *
 * @module
 */

import type { StateDatabase } from "../../db/database.ts";
import { type AnonymousQuota, createAnonymousQuota } from "../auth/anonymous_quota.ts";
import { createLimiter, type Limiter } from "../limiter.ts";
import { createGroupCommit, type GroupCommit } from "./group_commit.ts";

export interface RetentionResult {
  deleted: number;
  retention_days: number;
  /** Whether entries were deleted, so that the log now continues from an anchor. */
  chain_anchor_recorded: boolean;
}

export interface ComplianceState {
  /** Appends entries. */
  commit: GroupCommit;
  /** Runs verifications one after another: in parallel they would not be faster. */
  verify: Limiter;
  /** The retention run in progress. */
  retention: Promise<RetentionResult> | undefined;
  /** Limits the entries about callers without a valid token. */
  quotas: {
    /** Separate, so that other requests cannot hide failed logins. */
    logins: AnonymousQuota;
    others: AnonymousQuota;
  };
}

export function createComplianceState(db: StateDatabase): ComplianceState {
  return {
    commit: createGroupCommit(db),
    verify: createLimiter({ what: "verifications", running: 1, waiting: 8, retryAfterS: 30 }),
    retention: undefined,
    quotas: {
      logins: createAnonymousQuota({ ofClient: 100, ofMinute: 2_000 }),
      others: createAnonymousQuota({ ofClient: 10, ofMinute: 600, ofDay: 20_000 }),
    },
  };
}

/**
 * Workers, event recorders and the access policy of the Enterprise edition. Their code is loaded on
 * first use, so that other editions do not pay for it.
 *
 * @module
 */

import type { AccessPolicySource } from "../access/current_policy.ts";
import type { HostPolicy } from "../access/policy_rights.ts";
import type { Deps } from "../deps.ts";
import type { Worker } from "../lifecycle.ts";
import type { Recorder } from "../events/recorder.ts";
import { complianceRecorder } from "./compliance/recorder.ts";

const sessionSweeper: Worker = {
  name: "SSO session sweeper",
  edition: "enterprise",
  run: async (...args) => await (await import("./sso/session_sweeper.ts")).sweepSessions(...args),
};

const complianceSweeper: Worker = {
  name: "compliance sweeper",
  edition: "enterprise",
  run: async (...args) =>
    await (await import("./compliance/sweeper.ts")).sweepComplianceLog(...args),
};

export const enterpriseWorkers: readonly Worker[] = [sessionSweeper, complianceSweeper];

export const enterpriseRecorders: readonly Recorder[] = [complianceRecorder];

export const enterpriseAccessPolicy: AccessPolicySource = {
  edition: "enterprise",
  load: async () => (await import("./access_policy.ts")).createAccessPolicy,
};

/** The limits of users to hosts of the fleet as they are stored, whatever the license. */
export async function enterpriseHostPolicy(deps: Pick<Deps, "db">): Promise<HostPolicy> {
  const { hostLimitsOf } = await import("./roles/check.ts");
  return { hostLimits: (userId) => hostLimitsOf(deps, userId) };
}

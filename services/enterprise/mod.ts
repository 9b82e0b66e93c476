/**
 * What the Enterprise edition runs in the background, where it writes events down, and its guard.
 * Everything is loaded when it first runs: a service without the license pays nothing for it.
 *
 * @module
 */

import type { AccessPolicySource } from "../access_policy.ts";
import type { Worker } from "../lifecycle.ts";
import type { Recorder } from "../events/recorder.ts";
import { complianceRecorder } from "./compliance/recorder.ts";

const sessionSweeper: Worker = {
  name: "SSO session sweeper",
  edition: "enterprise",
  run: async (...given) => await (await import("./sso/session_sweeper.ts")).sweepSessions(...given),
};

const complianceSweeper: Worker = {
  name: "compliance sweeper",
  edition: "enterprise",
  run: async (...given) =>
    await (await import("./compliance/sweeper.ts")).sweepComplianceLog(...given),
};

export const enterpriseWorkers: readonly Worker[] = [sessionSweeper, complianceSweeper];

export const enterpriseRecorders: readonly Recorder[] = [complianceRecorder];

export async function recordEnterpriseCommand(
  ...given: Parameters<typeof import("./compliance/command_entry.ts").recordCommandEntry>
): Promise<void> {
  (await import("./compliance/command_entry.ts")).recordCommandEntry(...given);
}

export const enterpriseAccessPolicy: AccessPolicySource = {
  edition: "enterprise",
  load: async () => (await import("./access_policy.ts")).createGuard,
};

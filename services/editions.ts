/**
 * The table of contents of the service layer: workers, recorders, channels and adapters of all
 * editions.
 *
 * @module
 */

import {
  communityAdapters,
  communityChannels,
  communityCounts,
  communityRecorders,
  communityWorkers,
} from "./community/mod.ts";
import {
  enterpriseAccessPolicy,
  enterpriseHostPolicy,
  enterpriseRecorders,
  enterpriseWorkers,
} from "./enterprise/mod.ts";
import type { AccessPolicySource } from "./access/current_policy.ts";
import type { Adapter } from "./automation/integrations/adapter.ts";
import type { Worker } from "./lifecycle.ts";
import type { MonitorProbes } from "./updates/monitor_probes.ts";
import type { RecordCounts } from "./access/license/limits.ts";
import type { OutboxChannel } from "./events/outbox_channel.ts";
import {
  proAdapters,
  proChannels,
  proCounts,
  proMonitorProbes,
  proRecorders,
  proWorkers,
} from "./pro/mod.ts";
import type { Recorder } from "./events/recorder.ts";

export const workers: readonly Worker[] = [
  ...communityWorkers,
  ...proWorkers,
  ...enterpriseWorkers,
];

export const recorders: readonly Recorder[] = [
  ...communityRecorders,
  ...proRecorders,
  ...enterpriseRecorders,
];

export const channels: readonly OutboxChannel[] = [...communityChannels, ...proChannels];

export const adapters: readonly Adapter[] = [...communityAdapters, ...proAdapters];

export const monitorProbes: MonitorProbes = proMonitorProbes;

export const accessPolicySource: AccessPolicySource = enterpriseAccessPolicy;

/** The limits of users to hosts, for commands, which do not know the license. */
export const storedHostPolicy = enterpriseHostPolicy;

// Not loaded on first use: a command that acts as the owner of `DATA_DIR` may not read its own files.
export { recordCommandEntry } from "./enterprise/compliance/command_entry.ts";

export const counts: RecordCounts = { ...communityCounts, ...proCounts };

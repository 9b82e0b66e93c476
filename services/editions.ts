/**
 * The table of contents of the service layer: workers, recorders, channels and adapters of all
 * editions.
 *
 * @module
 */

import { ceAdapters, ceChannels, ceCounts, ceRecorders, ceSealers, ceWorkers } from "./community/mod.ts";
import {
  enterpriseAccessPolicy,
  enterpriseRecorders,
  enterpriseWorkers,
} from "./enterprise/mod.ts";
import type { AccessPolicySource } from "./access/policy.ts";
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
  proSealers,
  proWorkers,
} from "./pro/mod.ts";
import type { Recorder } from "./events/recorder.ts";
import type { Sealer } from "./secrets/sealer.ts";

export const workers: readonly Worker[] = [...ceWorkers, ...proWorkers, ...enterpriseWorkers];

export const recorders: readonly Recorder[] = [
  ...ceRecorders,
  ...proRecorders,
  ...enterpriseRecorders,
];

export const channels: readonly OutboxChannel[] = [...ceChannels, ...proChannels];

export const sealers: readonly Sealer[] = [...ceSealers, ...proSealers];

export const adapters: readonly Adapter[] = [...ceAdapters, ...proAdapters];

export const monitorProbes: MonitorProbes = proMonitorProbes;

export const accessPolicySource: AccessPolicySource = enterpriseAccessPolicy;

// Not loaded on first use: a command that acts as the owner of `DATA_DIR` may not read its own files.
export { recordCommandEntry } from "./enterprise/compliance/command_entry.ts";

export const counts: RecordCounts = { ...ceCounts, ...proCounts };

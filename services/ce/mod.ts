/**
 * What the Community Edition runs in the background, and where it writes events down.
 *
 * @module
 */

import type { Worker } from "../lifecycle.ts";
import type { Recorder } from "../recorder.ts";
import { containerWatcher } from "./workers/container_watcher.ts";
import { hostSampler } from "./workers/host_sampler.ts";
import { retentionSweeper } from "./workers/retention_sweeper.ts";
import { statsSampler } from "./workers/stats_sampler.ts";
import { streamBroadcaster } from "./workers/stream_broadcaster.ts";

export const ceWorkers: readonly Worker[] = [
  containerWatcher,
  statsSampler,
  hostSampler,
  streamBroadcaster,
  retentionSweeper,
];

export const ceRecorders: readonly Recorder[] = [];

/**
 * The Community Edition's workers, outbox channels, recorders, record counts and adapters.
 *
 * @module
 */

import { countAlertRules } from "../../db/alert_rules.ts";
import { countIntegrations } from "../../db/integrations.ts";
import { countSchedules } from "../../db/schedules.ts";
import { countUsers } from "../../db/users.ts";
import { countWebhooks } from "../../db/webhooks.ts";
import type { Adapter } from "../automation/integrations/adapter.ts";
import type { Worker } from "../lifecycle.ts";
import type { RecordCounts } from "../access/license/limits.ts";
import type { OutboxChannel } from "../events/outbox_channel.ts";
import type { Recorder } from "../events/recorder.ts";
import { pushChannel, pushRecorder } from "../messages/push/channel.ts";
import { alertEvaluator } from "../alerts/evaluator.ts";
import { omittedReadRecorder } from "../access/audit/omitted_reads.ts";
import { certificateWatcher } from "../probes/certificate_watcher.ts";
import { leftStoppedKeeper } from "../containers/left_stopped.ts";
import { containerWatcher } from "../containers/watcher.ts";
import {
  fleetBoxes,
  fleetCopies,
  fleetDialler,
  fleetEvents,
  fleetKeeper,
  fleetMember,
} from "../fleet/workers.ts";
import { gitStatusChannel } from "../git/status/channel.ts";
import { gitWatcher } from "../git/watcher.ts";
import { hostSampler } from "../metrics/host/sampler.ts";
import { integrationPoller } from "../automation/integrations/poller.ts";
import { jobRunner } from "../jobs/worker.ts";
import { JOB_KINDS } from "./job_kinds.ts";
import { licenseWatcher } from "../access/license/watcher.ts";
import { logStreamKeeper } from "../logs/follow/keeper.ts";
import { loopWatcher } from "../metrics/host/loop_watcher.ts";
import { sizeSampler } from "../metrics/size_sampler.ts";
import { messageKeeper } from "./message_keeper.ts";
import { crashLogReader } from "../messages/crash_log.ts";
import { metricsSampler } from "../metrics/sampler.ts";
import { outboxDeliverer } from "../events/outbox_deliverer.ts";
import { retentionSweeper } from "./retention_sweeper.ts";
import { scheduleRunner } from "../automation/schedules/runner.ts";
import { statsSampler } from "../containers/stats_sampler.ts";
import { streamBroadcaster } from "../live/broadcaster.ts";
import { swarmWatcher } from "../swarm/watcher.ts";
import { shellSweeper } from "../containers/terminal/shell_sweeper.ts";
import { terminalWatcher } from "../containers/terminal/watcher.ts";
import { trialSweeper } from "../updates/trial/sweeper.ts";
import { automaticUpdater } from "../updates/automatic/updater.ts";
import { notificationChannel } from "../messages/delivery.ts";
import { notificationRecorder } from "../messages/queue.ts";
import { updateChecker } from "../updates/check/checker.ts";
import { webhookChannel } from "../messages/webhooks/delivery.ts";
import { webhookRecorder } from "../messages/webhooks/messages.ts";

export const communityWorkers: readonly Worker[] = [
  containerWatcher,
  statsSampler,
  hostSampler,
  metricsSampler,
  sizeSampler,
  loopWatcher,
  alertEvaluator,
  scheduleRunner,
  jobRunner(JOB_KINDS),
  streamBroadcaster,
  swarmWatcher,
  terminalWatcher,
  fleetKeeper,
  fleetCopies,
  fleetDialler,
  fleetMember,
  fleetBoxes,
  fleetEvents,
  shellSweeper,
  leftStoppedKeeper,
  trialSweeper,
  logStreamKeeper,
  licenseWatcher,
  integrationPoller,
  certificateWatcher,
  updateChecker,
  automaticUpdater,
  gitWatcher,
  crashLogReader,
  messageKeeper,
  outboxDeliverer,
  retentionSweeper,
  omittedReadRecorder,
];

export const communityChannels: readonly OutboxChannel[] = [
  webhookChannel,
  pushChannel,
  notificationChannel,
  gitStatusChannel,
];

export const communityRecorders: readonly Recorder[] = [
  webhookRecorder,
  pushRecorder,
  notificationRecorder,
];

export const communityCounts: RecordCounts = {
  users: countUsers,
  webhooks: countWebhooks,
  integrations: countIntegrations,
  alert_rules: countAlertRules,
  schedules: countSchedules,
};

export const communityAdapters: readonly Adapter[] = [
  {
    id: "metrics-query",
    aliases: ["prometheus"],
    name: "Metrics query (Prometheus)",
    edition: "ce",
    load: async () =>
      (await import("../automation/integrations/adapters/metrics_query.ts")).metricsQuery,
  },
  {
    id: "dashboard",
    aliases: ["grafana"],
    name: "Dashboard (Grafana)",
    edition: "ce",
    load: async () => (await import("../automation/integrations/adapters/dashboard.ts")).dashboard,
  },
  {
    id: "http-json",
    aliases: [],
    name: "JSON over HTTP",
    edition: "ce",
    load: async () => (await import("../automation/integrations/adapters/http_json.ts")).httpJson,
  },
];

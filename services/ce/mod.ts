/**
 * What the Community Edition runs in the background, and where it writes events down.
 *
 * @module
 */

import { countAlertRules } from "../../db/ce/alert_rules.ts";
import { countIntegrations } from "../../db/ce/integrations.ts";
import { countSchedules } from "../../db/ce/schedules.ts";
import { countUsers } from "../../db/ce/users.ts";
import { countWebhooks } from "../../db/ce/webhooks.ts";
import type { Adapter } from "../integration_adapter.ts";
import type { Worker } from "../lifecycle.ts";
import type { RecordCounts } from "../limits.ts";
import type { OutboxChannel } from "../outbox_channel.ts";
import type { Recorder } from "../recorder.ts";
import type { Sealer } from "../sealer.ts";
import { sealIntegrationUrls } from "./integrations.ts";
import { pushChannel, pushRecorder } from "./push_channel.ts";
import { sealClearPushTokens } from "./push_tokens.ts";
import { alertEvaluator } from "./workers/alert_evaluator.ts";
import { certificateWatcher } from "./workers/certificate_watcher.ts";
import { containerWatcher } from "./workers/container_watcher.ts";
import { hostSampler } from "./workers/host_sampler.ts";
import { integrationPoller } from "./workers/integration_poller.ts";
import { licenseWatcher } from "./workers/license_watcher.ts";
import { loopWatcher } from "./workers/loop_watcher.ts";
import { sizeSampler } from "./metrics/size_sampler.ts";
import { metricsSampler } from "./workers/metrics_sampler.ts";
import { outboxDeliverer } from "./workers/outbox_deliverer.ts";
import { retentionSweeper } from "./workers/retention_sweeper.ts";
import { scheduleRunner } from "./workers/schedule_runner.ts";
import { statsSampler } from "./workers/stats_sampler.ts";
import { streamBroadcaster } from "./workers/stream_broadcaster.ts";
import { webhookChannel } from "./webhook_delivery.ts";
import { webhookRecorder } from "./webhook_messages.ts";

export const ceWorkers: readonly Worker[] = [
  containerWatcher,
  statsSampler,
  hostSampler,
  metricsSampler,
  sizeSampler,
  loopWatcher,
  alertEvaluator,
  scheduleRunner,
  streamBroadcaster,
  licenseWatcher,
  integrationPoller,
  certificateWatcher,
  outboxDeliverer,
  retentionSweeper,
];

export const ceChannels: readonly OutboxChannel[] = [webhookChannel, pushChannel];

export const ceRecorders: readonly Recorder[] = [webhookRecorder, pushRecorder];

export const ceSealers: readonly Sealer[] = [sealClearPushTokens, sealIntegrationUrls];

export const ceCounts: RecordCounts = {
  users: countUsers,
  webhooks: countWebhooks,
  integrations: countIntegrations,
  alert_rules: countAlertRules,
  schedules: countSchedules,
};

export const ceAdapters: readonly Adapter[] = [
  {
    id: "metrics-query",
    aliases: ["prometheus"],
    name: "Metrics query (Prometheus)",
    edition: "ce",
    load: async () => (await import("./adapters/metrics_query.ts")).metricsQuery,
  },
  {
    id: "dashboard",
    aliases: ["grafana"],
    name: "Dashboard (Grafana)",
    edition: "ce",
    load: async () => (await import("./adapters/dashboard.ts")).dashboard,
  },
  {
    id: "http-json",
    aliases: [],
    name: "JSON over HTTP",
    edition: "ce",
    load: async () => (await import("./adapters/http_json.ts")).httpJson,
  },
];

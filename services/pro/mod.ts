/**
 * The Pro edition: background workers, event recorders, outbox channels and integration adapters. Code
 * that is only needed with a license is loaded on first use.
 *
 * @module
 */

import { countRemediationRules } from "../../db/pro/remediation_rules.ts";
import { countStatusPages } from "../../db/pro/status_pages/pages.ts";
import { countMonitors } from "../../db/pro/uptime/monitors.ts";
import type { Adapter } from "../automation/integrations/adapter.ts";
import type { Worker } from "../lifecycle.ts";
import type { RecordCounts } from "../access/license/limits.ts";
import type { MonitorProbes } from "../updates/monitor_probes.ts";
import type { OutboxChannel } from "../events/outbox_channel.ts";
import type { Recorder } from "../events/recorder.ts";
import { incidentRecorder } from "./incidents/automatic.ts";
import { componentRecorder } from "./status_pages/components.ts";
import {
  mailChannel,
  subscriberRecorder,
  subscriberWebhookChannel,
} from "./status_pages/notices.ts";

export const proWorkers: readonly Worker[] = [
  {
    name: "uptime prober",
    edition: "pro",
    run: async (...args) => await (await import("./uptime/prober.ts")).probeMonitors(...args),
  },
  {
    name: "uptime sweeper",
    edition: "pro",
    run: async (...args) => await (await import("./uptime/sweeper.ts")).sweepUptime(...args),
  },
  {
    name: "incident reconciler",
    edition: "pro",
    run: async (...args) =>
      await (await import("./incidents/worker.ts")).reconcileIncidents(...args),
  },
  {
    name: "remediation runner",
    edition: "pro",
    run: async (...args) =>
      await (await import("./remediation/runner.ts")).runRemediations(...args),
  },
  {
    name: "SLA recalculator",
    edition: "pro",
    run: async (...args) => await (await import("./sla/recalculator.ts")).recalculateSlas(...args),
  },
  {
    name: "status page updater",
    edition: "pro",
    run: async (...args) =>
      await (await import("./status_pages/worker.ts")).updateStatusPages(...args),
  },
];

export const proChannels: readonly OutboxChannel[] = [
  mailChannel,
  subscriberWebhookChannel,
];

/** In the order in which they receive an event. */
export const proRecorders: readonly Recorder[] = [
  incidentRecorder,
  componentRecorder,
  subscriberRecorder,
];

export const proMonitorProbes: MonitorProbes = {
  edition: "pro",
  load: async () => (await import("./uptime/update_probes.ts")).updateProbes,
};

export const proCounts: RecordCounts = {
  remediation_rules: countRemediationRules,
  status_pages: countStatusPages,
  uptime_monitors: countMonitors,
};

export const proAdapters: readonly Adapter[] = [
  {
    id: "monitoring-saas",
    aliases: ["datadog"],
    name: "Monitoring service (Datadog)",
    edition: "pro",
    load: async () => (await import("./adapters/monitoring_saas.ts")).monitoringSaas,
  },
  {
    id: "cloud-metrics",
    aliases: ["cloudwatch"],
    name: "Cloud metrics (Amazon CloudWatch)",
    edition: "pro",
    load: async () => (await import("./adapters/cloud_metrics.ts")).cloudMetrics,
  },
  {
    id: "incident-paging",
    aliases: ["pagerduty"],
    name: "Incident paging (PagerDuty)",
    edition: "pro",
    load: async () => (await import("./adapters/incident_paging.ts")).incidentPaging,
  },
];

/**
 * What the Pro edition runs in the background, where it writes events down, how it sends messages,
 * and the systems that it can ask for data.
 *
 * @module
 */

import type { Adapter } from "../integration_adapter.ts";
import type { Worker } from "../lifecycle.ts";
import type { OutboxChannel } from "../outbox_channel.ts";
import type { Recorder } from "../recorder.ts";

export const proWorkers: readonly Worker[] = [];

export const proChannels: readonly OutboxChannel[] = [];

/** In the order in which they see an event. */
export const proRecorders: readonly Recorder[] = [];

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

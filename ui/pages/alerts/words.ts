/** Metrics of alert rules and their conditions in words. @module */

import type { AlertMetric, AlertOperator, AlertTemplateRule } from "../../api/types.ts";
import { targetText } from "../../parts/target_text.ts";
import { duration } from "../../base/text.ts";
import { conditionText, type MetricWords, valueText } from "../../parts/conditions.ts";

/** A metric with the fields that its rules have, as in `services/alerts/settings.ts`. */
export interface AlertMetricWords extends MetricWords {
  /** It is measured for each container. */
  ofContainers?: true;
  hasPath?: true;
  hasPattern?: true;
  hasWindow?: true;
  /** Operator of a new rule. */
  operator?: AlertOperator;
  threshold: number;
  hint?: string;
}

const STATE = { isState: true, operator: "==", threshold: 1 } as const;
const PRESSURE = { unit: "%", threshold: 20, hint: "Of the time, some task waited" } as const;

/** In the order in which they are offered. */
export const METRICS: Readonly<Record<AlertMetric, AlertMetricWords>> = {
  cpu_percent: { name: "CPU", unit: "%", threshold: 90, hint: "Percent of the whole host" },
  memory_percent: { name: "Memory", unit: "%", threshold: 90, hint: "Percent of the whole host" },
  swap_percent: { name: "Swap", unit: "%", threshold: 50, hint: "Percent of the whole host" },
  disk_percent: { name: "Disk", unit: "%", threshold: 90, hasPath: true },
  disk_full_in_hours: {
    name: "Disk is full in",
    unit: "h",
    operator: "<",
    threshold: 24,
    hint: "If it fills as in the last 6 hours",
  },
  load_1: { name: "Load (1 min)", threshold: 8 },
  pressure_cpu: { name: "CPU pressure", ...PRESSURE },
  pressure_memory: { name: "Memory pressure", ...PRESSURE },
  pressure_io: { name: "I/O pressure", ...PRESSURE },
  network_bytes_per_second: {
    name: "Network",
    unit: "B/s",
    threshold: 100_000_000,
    hint: "Bytes per second, received and sent",
  },
  temperature_celsius: { name: "Temperature", unit: "°C", threshold: 85 },
  container_stopped: { name: "Stopped containers", operator: ">=", threshold: 1 },
  container_cpu_percent: {
    name: "CPU of a container",
    unit: "%",
    threshold: 90,
    ofContainers: true,
    hint: "100 for one core",
  },
  container_memory_percent: {
    name: "Memory of a container",
    unit: "%",
    threshold: 90,
    ofContainers: true,
    hint: "Of what it may use",
  },
  container_memory_bytes: {
    name: "Memory of a container",
    unit: "B",
    threshold: 2 ** 30,
    ofContainers: true,
    hint: "In bytes: 1 GiB is 1073741824",
  },
  container_network_bytes_per_second: {
    name: "Network of a container",
    unit: "B/s",
    threshold: 10_000_000,
    ofContainers: true,
    hint: "Bytes per second, received and sent",
  },
  container_restarts: {
    name: "Restarts of a container",
    operator: ">=",
    threshold: 3,
    ofContainers: true,
    hasWindow: true,
  },
  container_oom: {
    name: "Container out of memory",
    operator: ">=",
    threshold: 1,
    ofContainers: true,
    hasWindow: true,
  },
  container_log_matches: {
    name: "Matching log lines",
    operator: ">=",
    threshold: 1,
    ofContainers: true,
    hasPattern: true,
    hasWindow: true,
  },
  container_unhealthy: { name: "Container is unhealthy", ...STATE, ofContainers: true },
  container_not_running: { name: "Container is not running", ...STATE, ofContainers: true },
  engine_down: { name: "Engine is down", ...STATE },
  outbox_age_seconds: { name: "Oldest waiting message", unit: "s", threshold: 3_600 },
  certificate_days_remaining: {
    name: "Certificate is valid for",
    unit: "days",
    operator: "<",
    threshold: 14,
  },
  update_available_days: { name: "Update available for", unit: "days", threshold: 7 },
};

/** E.g. `97.2 %`. */
export const valueOf = (metric: AlertMetric, value: number): string =>
  METRICS[metric].isState ? value === 1 ? "yes" : "no" : valueText(METRICS[metric], value);

/** E.g. `CPU > 90 % for 1 min`, `Restarts of a container ≥ 3 within 10 min: web*`. */
export function conditionOf(
  { metric, operator, threshold, durationSeconds, scope, path, pattern, windowSeconds }:
    AlertTemplateRule,
): string {
  const words = METRICS[metric];
  const name = words.name + (path == null ? "" : ` of ${path}`) +
    (pattern == null ? "" : ` /${pattern}/`);
  return conditionText({ ...words, name }, operator, threshold, durationSeconds) +
    (windowSeconds == null ? "" : ` within ${duration(windowSeconds)}`) +
    (scope?.target.kind === "containers" ? `: ${targetText(scope.target)}` : "");
}

/**
 * Rules to begin with: each can be created as it is. None repeats an event that is sent without a
 * rule, such as `engine.down`.
 *
 * @module
 */

import type { NewAlertRule } from "./settings.ts";

export interface AlertTemplate {
  id: string;
  /** Its purpose, in one sentence. */
  description: string;
  rule: NewAlertRule;
}

const CONTAINERS = { target: { kind: "containers" } } as const;

/** The most important first. */
export const ALERT_TEMPLATES: readonly AlertTemplate[] = [
  template("disk-almost-full", "The host has little disk space left.", {
    name: "Disk almost full",
    metric: "disk_percent",
    operator: ">",
    threshold: 90,
    durationSeconds: 300,
    severity: "critical",
  }),
  template("memory-almost-full", "The host has little memory left.", {
    name: "Memory almost full",
    metric: "memory_percent",
    operator: ">",
    threshold: 90,
    durationSeconds: 300,
  }),
  template("processor-busy", "The processors of the host are busy for a quarter of an hour.", {
    name: "Processor busy",
    metric: "cpu_percent",
    operator: ">",
    threshold: 90,
    durationSeconds: 900,
  }),
  template("swap-almost-full", "The host has little swap space left, which slows it down.", {
    name: "Swap almost full",
    metric: "swap_percent",
    operator: ">",
    threshold: 80,
    durationSeconds: 900,
  }),
  template("container-not-running", "A container has not been running for five minutes.", {
    name: "Container not running",
    metric: "container_not_running",
    operator: "==",
    threshold: 1,
    durationSeconds: 300,
    scope: CONTAINERS,
  }),
  template("container-unhealthy", "The health check of a container has failed for five minutes.", {
    name: "Container unhealthy",
    metric: "container_unhealthy",
    operator: "==",
    threshold: 1,
    durationSeconds: 300,
    scope: CONTAINERS,
  }),
  template("container-restarting", "A container was restarted three times in ten minutes.", {
    name: "Container restarting",
    metric: "container_restarts",
    operator: ">=",
    threshold: 3,
    durationSeconds: 0,
    windowSeconds: 600,
    severity: "critical",
    scope: CONTAINERS,
  }),
  template("container-memory", "A container uses nearly all of the memory that it may use.", {
    name: "Container memory almost full",
    metric: "container_memory_percent",
    operator: ">",
    threshold: 90,
    durationSeconds: 300,
    scope: CONTAINERS,
  }),
  template("updates-waiting", "A newer image of a container has been available for a month.", {
    name: "Update not installed",
    metric: "update_available_days",
    operator: ">=",
    threshold: 30,
    durationSeconds: 0,
    severity: "info",
  }),
  template("messages-waiting", "Notifications or webhooks have not been delivered for an hour.", {
    name: "Messages not delivered",
    metric: "outbox_age_seconds",
    operator: ">",
    threshold: 3_600,
    durationSeconds: 0,
  }),
];

function template(
  id: string,
  description: string,
  rule: Omit<NewAlertRule, "autoIncident">,
): AlertTemplate {
  return { id, description, rule: { autoIncident: false, ...rule } };
}

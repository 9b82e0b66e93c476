/**
 * The `remediation_rules` table: actions to run when a condition holds, and the state of each rule.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

/** Metrics of the host. */
const HOST_METRICS = [
  "cpu_percent",
  "memory_percent",
  "disk_percent",
  "load_1",
  "container_stopped",
] as const;

/** Metrics of the container that the rule acts on. */
const TARGET_METRICS = [
  "container_cpu_percent",
  "container_memory_percent",
  "container_unhealthy",
  "container_down",
] as const;

export const REMEDIATION_METRICS = [...HOST_METRICS, ...TARGET_METRICS] as const;
export type RemediationMetric = (typeof REMEDIATION_METRICS)[number];

export const REMEDIATION_OPERATORS = [">", "<", ">=", "<=", "=="] as const;
export type RemediationOperator = (typeof REMEDIATION_OPERATORS)[number];

export const REMEDIATION_ACTIONS = ["restart", "start", "stop"] as const;
export type RemediationAction = (typeof REMEDIATION_ACTIONS)[number];

/** What users configure. */
export interface RemediationSettings {
  name: string;
  condition_metric: RemediationMetric;
  condition_operator: RemediationOperator;
  condition_threshold: number;
  /** How long the condition must hold without interruption, in seconds. */
  condition_duration: number;
  action_type: RemediationAction;
  /** As given: an id, an id prefix or a name. */
  action_target: string;
  action_config: {
    /** For stop and restart: seconds until the container is killed. */
    timeout_seconds?: number | undefined;
  };
  cooldown_seconds: number;
  enabled: boolean;
}

/** The state of a rule. Times are ISO 8601, UTC. */
export interface RemediationProgress {
  /** Since when the condition has held. */
  pending_since: string | null;
  /** When the condition was last seen to hold; may lag a little. */
  seen_at: string | null;
  last_triggered_at: string | null;
  /** When it fired within the last hour, oldest first; cleared when the rule is enabled. */
  firings: readonly string[];
}

/** One rule as stored. */
export interface RemediationRule extends RemediationSettings, RemediationProgress {
  id: string;
  created_at: string;
  trigger_count: number;
  /** Finds the target again after it was recreated; `null` until it was seen once. */
  target_name: string | null;
}

const rules = table<RemediationRule>("remediation_rules", {
  id: "value",
  name: "value",
  condition_metric: "value",
  condition_operator: "value",
  condition_threshold: "value",
  condition_duration: "value",
  action_type: "value",
  action_target: "value",
  action_config: "json",
  cooldown_seconds: "value",
  enabled: "boolean",
  created_at: "value",
  target_name: "value",
  pending_since: "value",
  seen_at: "value",
  last_triggered_at: "value",
  trigger_count: "value",
  firings: "json",
});

export const {
  find: selectRemediationRule,
  count: countRemediationRules,
  insert: insertRemediationRule,
  save: updateRemediationRule,
  delete: deleteRemediationRule,
} = rules;

/** All rules by name. */
export function selectRemediationRules(db: Database): RemediationRule[] {
  return rules.select(db, "ORDER BY name COLLATE NOCASE, id");
}

/** The enabled rules, oldest first. */
export function selectEnabledRemediationRules(db: Database): RemediationRule[] {
  return rules.select(db, "WHERE enabled = 1 ORDER BY created_at, id");
}

/**
 * The `remediation_rules` table: what is done about which condition, and how far each rule has
 * come.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** Of the host. */
const HOST_METRICS = [
  "cpu_percent",
  "memory_percent",
  "disk_percent",
  "load_1",
  "container_stopped",
] as const;

/** Of the container that the rule acts on. */
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

/** What a user decides about a rule. */
export interface RemediationSettings {
  name: string;
  condition_metric: RemediationMetric;
  condition_operator: RemediationOperator;
  condition_threshold: number;
  /** How long the condition has to hold without a break, in seconds. */
  condition_duration: number;
  action_type: RemediationAction;
  /** As it was given: an id, the beginning of one, or a name. */
  action_target: string;
  action_config: {
    /** Of stop and restart: seconds until the container is killed. */
    timeout_seconds?: number | undefined;
  };
  cooldown_seconds: number;
  enabled: boolean;
}

/** How far a rule has come. Times are ISO 8601, UTC. */
export interface RemediationProgress {
  /** Since when the condition holds. */
  pending_since: string | null;
  /** When the condition was last seen to hold; a little behind. */
  seen_at: string | null;
  last_triggered_at: string | null;
  /** When it fired within an hour, oldest first; begins anew when the rule is turned on. */
  firings: readonly string[];
}

/** One rule as stored. */
export interface RemediationRule extends RemediationSettings, RemediationProgress {
  id: string;
  created_at: string;
  trigger_count: number;
  /** By which the target is found when it was recreated; `null` until it was seen once. */
  target_name: string | null;
}

const COLUMNS = `
  id, name, condition_metric, condition_operator, condition_threshold, condition_duration,
  action_type, action_target, action_config, cooldown_seconds, enabled, created_at, target_name,
  pending_since, seen_at, last_triggered_at, trigger_count, firings`;

type Row = Omit<RemediationRule, "action_config" | "enabled" | "firings"> & {
  action_config: string;
  enabled: number;
  firings: string;
};

const fromRow = (row: Row): RemediationRule => ({
  ...row,
  action_config: JSON.parse(row.action_config),
  enabled: row.enabled === 1,
  firings: JSON.parse(row.firings),
});

const toRow = (rule: RemediationRule) => ({
  ...rule,
  action_config: JSON.stringify(rule.action_config),
  enabled: Number(rule.enabled),
  firings: JSON.stringify(rule.firings),
});

/** All rules by name. */
export function selectRemediationRules(db: Database): RemediationRule[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM remediation_rules ORDER BY name COLLATE NOCASE, id`)
    .map(fromRow);
}

/** The rules that are on, oldest first. */
export function selectEnabledRemediationRules(db: Database): RemediationRule[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM remediation_rules WHERE enabled = 1 ORDER BY created_at, id`,
  ).map(fromRow);
}

/** One rule, or `undefined` when the id is unknown. */
export function selectRemediationRule(db: Database, id: string): RemediationRule | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM remediation_rules WHERE id = :id`, { id });
  return row && fromRow(row);
}

export function countRemediationRules(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM remediation_rules")!.n;
}

export function insertRemediationRule(db: Database, rule: RemediationRule): void {
  db.run(
    `INSERT INTO remediation_rules (${COLUMNS})
     VALUES (:id, :name, :condition_metric, :condition_operator, :condition_threshold,
       :condition_duration, :action_type, :action_target, :action_config, :cooldown_seconds,
       :enabled, :created_at, :target_name, :pending_since, :seen_at, :last_triggered_at,
       :trigger_count, :firings)`,
    toRow(rule),
  );
}

/** Stores everything about a rule that can change. */
export function updateRemediationRule(db: Database, rule: RemediationRule): void {
  const { created_at: _, ...values } = toRow(rule);
  db.run(
    `UPDATE remediation_rules SET name = :name, condition_metric = :condition_metric,
       condition_operator = :condition_operator, condition_threshold = :condition_threshold,
       condition_duration = :condition_duration, action_type = :action_type,
       action_target = :action_target, action_config = :action_config,
       cooldown_seconds = :cooldown_seconds, enabled = :enabled, target_name = :target_name,
       pending_since = :pending_since, seen_at = :seen_at,
       last_triggered_at = :last_triggered_at, trigger_count = :trigger_count, firings = :firings
     WHERE id = :id`,
    values,
  );
}

/** @returns Whether the id was known. */
export function deleteRemediationRule(db: Database, id: string): boolean {
  return db.run("DELETE FROM remediation_rules WHERE id = :id", { id }) > 0;
}

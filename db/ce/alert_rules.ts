/**
 * The `alert_rules` table: conditions to watch, and the state of each rule.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

export const ALERT_METRICS = [
  "cpu_percent",
  "memory_percent",
  "disk_percent",
  "load_1",
  "container_stopped",
] as const;
export type AlertMetric = (typeof ALERT_METRICS)[number];

export const ALERT_OPERATORS = [">", "<", ">=", "<=", "=="] as const;
export type AlertOperator = (typeof ALERT_OPERATORS)[number];

export const ALERT_STATES = ["ok", "pending", "firing"] as const;
export type AlertState = (typeof ALERT_STATES)[number];

/** What users configure. */
export interface AlertRuleSettings {
  name: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  /** How long the condition must hold without interruption. */
  durationSeconds: number;
  /** Whether an alert opens an incident. */
  autoIncident: boolean;
  enabled: boolean;
}

/** The state of a rule. Times are ISO 8601, UTC. */
export interface AlertProgress {
  state: AlertState;
  /** Since when the condition has held, while `state` is pending. */
  pendingSince: string | null;
  /** When the condition was last seen to hold, while `state` is pending; may lag a little. */
  seenAt: string | null;
  lastFiredAt: string | null;
}

/** One rule as stored. */
export interface AlertRule extends AlertRuleSettings, AlertProgress {
  id: string;
  createdAt: string;
}

const rules = table<AlertRule>("alert_rules", {
  id: "value",
  name: "value",
  metric: "value",
  operator: "value",
  threshold: "value",
  durationSeconds: "value",
  autoIncident: "boolean",
  enabled: "boolean",
  createdAt: "value",
  state: "value",
  pendingSince: "value",
  seenAt: "value",
  lastFiredAt: "value",
});

/** All rules by name. */
export function selectAlertRules(db: Database): AlertRule[] {
  return rules.select(db, "ORDER BY name COLLATE NOCASE, id");
}

/** The enabled rules, oldest first. */
export function selectEnabledAlertRules(db: Database): AlertRule[] {
  return rules.select(db, "WHERE enabled = 1 ORDER BY created_at, id");
}

/** One rule, or `undefined` when the id is unknown. */
export function selectAlertRule(db: Database, id: string): AlertRule | undefined {
  return rules.find(db, id);
}

export function countAlertRules(db: Database): number {
  return rules.count(db);
}

export function insertAlertRule(db: Database, rule: AlertRule): void {
  rules.insert(db, rule);
}

export function updateAlertRule(db: Database, rule: AlertRule): void {
  rules.update(db, rule.id, rule);
}

export function updateAlertProgress(db: Database, id: string, progress: AlertProgress): void {
  const { state, pendingSince, seenAt, lastFiredAt } = progress;
  rules.update(db, id, { state, pendingSince, seenAt, lastFiredAt });
}

/** @returns Whether the id was known. */
export function deleteAlertRule(db: Database, id: string): boolean {
  return rules.delete(db, id);
}

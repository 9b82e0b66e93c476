/**
 * The `alert_rules` table: what is watched, and how far each rule has come.
 *
 * @module
 */

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

/** What a user decides about a rule. */
export interface AlertRuleSettings {
  name: string;
  metric: AlertMetric;
  operator: AlertOperator;
  threshold: number;
  /** How long the condition has to hold without a break. */
  durationSeconds: number;
  /** Whether a firing opens an incident. */
  autoIncident: boolean;
  enabled: boolean;
}

/** How far a rule has come. Times are ISO 8601, UTC. */
export interface AlertProgress {
  state: AlertState;
  /** Since when the condition holds, while `state` is pending. */
  pendingSince: string | null;
  /** When the condition was last seen to hold, while `state` is pending; a little behind. */
  seenAt: string | null;
  lastFiredAt: string | null;
}

/** One rule as stored. */
export interface AlertRule extends AlertRuleSettings, AlertProgress {
  id: string;
  createdAt: string;
}

const COLUMNS = `
  id, name, metric, operator, threshold, duration_seconds AS durationSeconds,
  auto_incident AS autoIncident, enabled, created_at AS createdAt, state,
  pending_since AS pendingSince, seen_at AS seenAt, last_fired_at AS lastFiredAt`;

type Row = Omit<AlertRule, "autoIncident" | "enabled"> & { autoIncident: number; enabled: number };

const fromRow = (row: Row): AlertRule => ({
  ...row,
  autoIncident: row.autoIncident === 1,
  enabled: row.enabled === 1,
});

/** All rules by name. */
export function selectAlertRules(db: Database): AlertRule[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM alert_rules ORDER BY name COLLATE NOCASE, id`)
    .map(fromRow);
}

/** The rules that are on, oldest first. */
export function selectEnabledAlertRules(db: Database): AlertRule[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM alert_rules WHERE enabled = 1 ORDER BY created_at, id`,
  ).map(fromRow);
}

/** One rule, or `undefined` when the id is unknown. */
export function selectAlertRule(db: Database, id: string): AlertRule | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM alert_rules WHERE id = :id`, { id });
  return row && fromRow(row);
}

export function countAlertRules(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM alert_rules")!.n;
}

export function insertAlertRule(db: Database, rule: AlertRule): void {
  db.run(
    `INSERT INTO alert_rules (id, name, metric, operator, threshold, duration_seconds,
       auto_incident, enabled, created_at, state, pending_since, seen_at, last_fired_at)
     VALUES (:id, :name, :metric, :operator, :threshold, :durationSeconds,
       :autoIncident, :enabled, :createdAt, :state, :pendingSince, :seenAt, :lastFiredAt)`,
    toRow(rule),
  );
}

/** Stores everything about a rule that can change. */
export function updateAlertRule(db: Database, rule: AlertRule): void {
  const { createdAt: _, ...values } = toRow(rule);
  db.run(
    `UPDATE alert_rules SET name = :name, metric = :metric, operator = :operator,
       threshold = :threshold, duration_seconds = :durationSeconds,
       auto_incident = :autoIncident, enabled = :enabled, state = :state,
       pending_since = :pendingSince, seen_at = :seenAt, last_fired_at = :lastFiredAt
     WHERE id = :id`,
    values,
  );
}

export function updateAlertProgress(
  db: Database,
  id: string,
  { state, pendingSince, seenAt, lastFiredAt }: AlertProgress,
): void {
  db.run(
    `UPDATE alert_rules SET state = :state, pending_since = :pendingSince, seen_at = :seenAt,
       last_fired_at = :lastFiredAt
     WHERE id = :id`,
    { id, state, pendingSince, seenAt, lastFiredAt },
  );
}

/** @returns Whether the id was known. */
export function deleteAlertRule(db: Database, id: string): boolean {
  return db.run("DELETE FROM alert_rules WHERE id = :id", { id }) > 0;
}

const toRow = (rule: AlertRule) => ({
  ...rule,
  autoIncident: Number(rule.autoIncident),
  enabled: Number(rule.enabled),
});

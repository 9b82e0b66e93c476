/** The `alert_rules` table: conditions to watch. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { StacksTarget, Target } from "./target.ts";
import type { Severity } from "./notification_channels.ts";

export const ALERT_OPERATORS = [">", "<", ">=", "<=", "=="] as const;
export type AlertOperator = (typeof ALERT_OPERATORS)[number];

/** Watched objects of a rule: the host with its engine and this service, containers or stacks. */
export interface AlertScope {
  target: Target | StacksTarget;
}

const rules = table("alert_rules", {
  id: text(),
  name: text(),
  metric: text(),
  operator: text<AlertOperator>(),
  threshold: number(),
  /** Time for which the condition must hold without interruption. */
  durationSeconds: number(),
  severity: text<Severity>(),
  scope: json<AlertScope>(),
  /** RE2 pattern of log lines; `null` for metrics that count no lines. */
  pattern: text<string | null>(),
  /** An absolute path in the measured filesystem; `null` for the root. */
  path: text<string | null>(),
  /** The last seconds in which occurrences are counted; `null` for metrics that count nothing. */
  windowSeconds: number<number | null>(),
  /** After which missing data is reported; `null`: never. */
  forMissingDataSeconds: number<number | null>(),
  /** Whether an alert opens an incident. */
  autoIncident: boolean(),
  enabled: boolean(),
  /** ISO 8601, UTC. */
  createdAt: text(),
}, { order: "name COLLATE NOCASE, id" });

/** One rule as stored. */
export type AlertRule = Row<typeof rules>;

/** Settings of a rule that users configure. */
export type AlertRuleSettings = Omit<AlertRule, "id" | "createdAt">;

export const {
  find: selectAlertRule,
  count: countAlertRules,
  insert: insertAlertRule,
  save: updateAlertRule,
  delete: deleteAlertRule,
  /** All rules by name. */
  all: selectAlertRules,
} = rules;

/** The enabled rules, oldest first. */
export function selectEnabledAlertRules(db: Database): AlertRule[] {
  return rules.select(db, "WHERE enabled = 1 ORDER BY created_at, id");
}

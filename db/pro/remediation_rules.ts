/**
 * The `remediation_rules` table: actions to run when a condition holds, and the state of each rule.
 *
 * @module
 */

import type { AlertOperator } from "../alert_rules.ts";
import { boolean, json, number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

export const REMEDIATION_ACTIONS = ["restart", "start", "stop"] as const;
export type RemediationAction = (typeof REMEDIATION_ACTIONS)[number];

const rules = table("remediation_rules", {
  id: text(),
  name: text(),
  condition_metric: text(),
  condition_operator: text<AlertOperator>(),
  condition_threshold: number(),
  /** Time for which the condition must hold without interruption, in seconds. */
  condition_duration: number(),
  action_type: text<RemediationAction>(),
  /** As given: an id, an id prefix or a name. */
  action_target: text(),
  action_config: json<{
    /** For stop and restart: seconds until the container is killed. */
    timeout_seconds?: number | undefined;
  }>(),
  cooldown_seconds: number(),
  enabled: boolean(),
  created_at: text(),
  /** Finds the target again after it was recreated; `null` until it was seen once. */
  target_name: text<string | null>(),
  /** Since when the condition has held. */
  pending_since: text<string | null>(),
  /** When the condition was last seen to hold; may lag a little. */
  seen_at: text<string | null>(),
  last_triggered_at: text<string | null>(),
  trigger_count: number(),
  /** When it fired within the last hour, oldest first; cleared when the rule is enabled. */
  firings: json<readonly string[]>(),
}, { order: "name COLLATE NOCASE, id" });

/** One rule as stored. Times are ISO 8601, UTC. */
export type RemediationRule = Row<typeof rules>;

/** The state of a rule. */
export type RemediationProgress = Pick<
  RemediationRule,
  "pending_since" | "seen_at" | "last_triggered_at" | "firings"
>;

/** Settings of a rule that users configure. */
export type RemediationSettings = Omit<
  RemediationRule,
  keyof RemediationProgress | "id" | "created_at" | "trigger_count" | "target_name"
>;

export const {
  find: selectRemediationRule,
  count: countRemediationRules,
  insert: insertRemediationRule,
  save: updateRemediationRule,
  delete: deleteRemediationRule,
  /** All rules by name. */
  all: selectRemediationRules,
} = rules;

/** The enabled rules, oldest first. */
export function selectEnabledRemediationRules(db: Database): RemediationRule[] {
  return rules.select(db, "WHERE enabled = 1 ORDER BY created_at, id");
}

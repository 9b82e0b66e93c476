/**
 * Alert rules: a metric, a threshold and for how long it must be exceeded.
 *
 * @module
 */

import {
  type AlertRule,
  type AlertRuleSettings,
  countAlertRules,
  deleteAlertRule,
  insertAlertRule,
  selectAlertRule,
  selectAlertRules,
  updateAlertRule,
} from "../../../db/ce/alert_rules.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import type { EmitDeps } from "../../events/emit.ts";
import { notFound } from "../../errors.ts";
import { assertBelowLimit } from "../../license/limits.ts";
import { endAlert } from "./events.ts";

export { ALERT_METRICS, ALERT_OPERATORS, ALERT_STATES } from "../../../db/ce/alert_rules.ts";
export type { AlertRule };

const INITIAL_PROGRESS = { state: "ok", pendingSince: null, seenAt: null } as const;

/** All rules by name. */
export function listAlertRules({ db }: Pick<Deps, "db">): AlertRule[] {
  return selectAlertRules(db);
}

/** @throws {AppError} `not_found`. */
export function getAlertRule({ db }: Pick<Deps, "db">, id: string): AlertRule {
  const rule = selectAlertRule(db, id);
  if (!rule) throw notFound("Alert rule", id);
  return rule;
}

/**
 * Stores a new, enabled rule.
 *
 * @throws {LimitError} When the edition's limit of rules is reached.
 */
export function createAlertRule(
  { db, license, now }: Pick<Deps, "db" | "license" | "now">,
  settings: Omit<AlertRuleSettings, "enabled">,
): AlertRule {
  assertBelowLimit(license, "alert_rules", countAlertRules(db));
  const rule: AlertRule = {
    ...settings,
    id: crypto.randomUUID(),
    enabled: true,
    createdAt: now().toISOString(),
    ...INITIAL_PROGRESS,
    lastFiredAt: null,
  };
  insertAlertRule(db, rule);
  return rule;
}

/**
 * Changes a rule. Disabling it or changing its condition resets its progress and resolves its open
 * event; its cooldown continues.
 *
 * @throws {AppError} `not_found`.
 */
export function changeAlertRule(
  deps: EmitDeps,
  id: string,
  change: Change<AlertRuleSettings>,
): AlertRule {
  const { db } = deps;
  const before = getAlertRule({ db }, id);
  const changed = applyChange(before, change);
  const reason = resetReason(before, changed);
  if (reason === undefined) {
    updateAlertRule(db, changed);
    return changed;
  }
  const rule = { ...changed, ...INITIAL_PROGRESS };
  endAlert(deps, id, {
    message: `${rule.name}: ${reason}`,
    store: () => updateAlertRule(db, rule),
  });
  return rule;
}

/** Deletes a rule and resolves its open event; past events stay. @throws {AppError} `not_found`. */
export function removeAlertRule(deps: EmitDeps, id: string): void {
  const { name } = getAlertRule(deps, id);
  endAlert(deps, id, {
    message: `${name}: the rule was deleted`,
    store: () => deleteAlertRule(deps.db, id),
  });
}

function resetReason(before: AlertRule, after: AlertRule): string | undefined {
  if (before.enabled && !after.enabled) return "the rule was disabled";
  const isSame = before.metric === after.metric && before.operator === after.operator &&
    before.threshold === after.threshold;
  return isSame ? undefined : "the rule was changed";
}

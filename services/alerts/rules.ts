/** Alert rules: a metric, a threshold and for how long it must be exceeded. @module */

import {
  type AlertState,
  deleteAlertProgress,
  resetAlertProgress,
  selectAlertProgress,
  type StoredAlertProgress,
} from "../../db/alert_progress.ts";
import {
  type AlertRule,
  type AlertRuleSettings,
  countAlertRules,
  deleteAlertRule,
  insertAlertRule,
  selectAlertRule,
  selectAlertRules,
  updateAlertRule,
} from "../../db/alert_rules.ts";
import { applyChange, type Change } from "../change.ts";
import type { Deps } from "../deps.ts";
import type { EmitDeps } from "../events/emit.ts";
import { requireFound } from "../errors.ts";
import type { Pause } from "../events/recorder.ts";
import type { SilencerDeps } from "./silences/silencer.ts";
import { assertBelowLimit } from "../access/license/limits.ts";
import { endRuleAlerts, findInhibition } from "./events.ts";
import type { SourceDeps } from "./metrics/kind.ts";
import { alertMetric } from "./metrics/mod.ts";
import { hostReading } from "./readings.ts";
import { completeSettings, type NewAlertRule } from "./settings.ts";
import { conditionText } from "./text.ts";
import { containersOf, forgetRules, stackValues } from "./watched_rules.ts";

export { ALERT_STATES } from "../../db/alert_progress.ts";
export { ALERT_OPERATORS } from "../../db/alert_rules.ts";
export type { AlertRule, NewAlertRule };

/** A rule with its state: of all its containers, the worst. */
export interface AlertRuleView extends AlertRule {
  state: AlertState;
  lastFiredAt: string | null;
  /** The condition in words, without the scope. */
  condition: string;
  /** Why the rule has no data at the moment; `null` if it has. */
  problem: string | null;
  /** Why no messages are sent about it at the moment; `null` if they are. */
  inhibitedBy: Pause | null;
}

/** Best first. */
const STATES: readonly AlertState[] = ["ok", "pending", "no_data", "firing"];

/** The state of a rule whose containers have these states. */
export const worstState = (progress: readonly Pick<StoredAlertProgress, "state">[]): AlertState =>
  STATES[Math.max(0, ...progress.map(({ state }) => STATES.indexOf(state)))]!;

type ViewDeps = SourceDeps & SilencerDeps;
type ChangeDeps = EmitDeps & ViewDeps;

/** All rules by name. */
export function listAlertRules(deps: ViewDeps): AlertRuleView[] {
  const byRule = Map.groupBy(selectAlertProgress(deps.db), ({ ruleId }) => ruleId);
  return selectAlertRules(deps.db).map((rule) => toView(deps, rule, byRule.get(rule.id) ?? []));
}

/** @throws {AppError} `not_found`. */
export function getAlertRule(deps: ViewDeps, id: string): AlertRuleView {
  return toView(deps, requireRule(deps, id), selectAlertProgress(deps.db, id));
}

/**
 * Stores a new, enabled rule.
 *
 * @throws {AppError} `invalid` for fields that the metric does not have.
 * @throws {LimitError} When the edition's limit of rules is reached.
 */
export function createAlertRule(
  deps: ViewDeps & Pick<Deps, "license">,
  settings: NewAlertRule,
): AlertRuleView {
  const { alerts, db, license, now } = deps;
  const complete = completeSettings(settings);
  assertBelowLimit(license, "alert_rules", countAlertRules(db));
  const rule: AlertRule = {
    ...complete,
    id: crypto.randomUUID(),
    enabled: true,
    createdAt: now().toISOString(),
  };
  insertAlertRule(db, rule);
  forgetRules(alerts);
  return toView(deps, rule, []);
}

/**
 * Changes a rule. Disabling it or changing its condition resets its progress and resolves its open
 * events; its cooldown continues.
 *
 * @throws {AppError} `not_found`; `invalid` for fields that the metric does not have.
 */
export function changeAlertRule(
  deps: ChangeDeps,
  id: string,
  change: Change<AlertRuleSettings>,
): AlertRuleView {
  const { alerts, db } = deps;
  const before = requireRule(deps, id);
  const changed = applyChange(before, change);
  const rule = { ...changed, ...completeSettings(changed, change) };
  const reason = resetReason(before, rule);
  if (reason !== undefined) endRuleAlerts(deps, id, reason);
  db.transaction(() => {
    updateAlertRule(db, rule);
    if (reason !== undefined) resetAlertProgress(db, id);
  });
  forgetRules(alerts);
  return getAlertRule(deps, id);
}

/** Deletes a rule and resolves its open events; past events stay. @throws {AppError} `not_found`. */
export function removeAlertRule(deps: ChangeDeps, id: string): void {
  const { alerts, db } = deps;
  requireRule(deps, id);
  endRuleAlerts(deps, id, "The rule was deleted");
  db.transaction(() => {
    deleteAlertRule(db, id);
    deleteAlertProgress(db, id);
  });
  forgetRules(alerts);
}

function requireRule({ db }: Pick<Deps, "db">, id: string): AlertRule {
  return requireFound(selectAlertRule(db, id), "Alert rule", id);
}

function toView(
  deps: ViewDeps,
  rule: AlertRule,
  progress: readonly StoredAlertProgress[],
): AlertRuleView {
  const { problem, isUnsupported } = findProblem(deps, rule);
  const worst = worstState(progress);
  const fired = progress.map(({ lastFiredAt }) => lastFiredAt ?? "").sort();
  return {
    ...rule,
    condition: conditionText(rule),
    state: isUnsupported && worst === "ok" ? "no_data" : worst,
    lastFiredAt: fired.at(-1) || null,
    problem,
    inhibitedBy: findRuleInhibition(deps, rule, progress),
  };
}

/** A rule is inhibited if all of its alerts are; one without alerts, if its first would be. */
function findRuleInhibition(
  deps: ViewDeps,
  { id, name, severity }: AlertRule,
  progress: readonly StoredAlertProgress[],
): Pause | null {
  const active = progress.flatMap(({ state, container }) => state === "ok" ? [] : [container]);
  const inhibit = (container: string) =>
    findInhibition(deps, { ruleId: id, ruleName: name, severity, container: container || null });
  const reason = inhibit(active[0] ?? "");
  return active.slice(1).every((container) => inhibit(container) !== null) ? reason : null;
}

/** Reason why the host, the engine or the service cannot measure the metric. */
function findProblem(
  deps: ViewDeps,
  rule: AlertRule,
): { problem: string | null; isUnsupported?: boolean } {
  if (!rule.enabled) return { problem: null };
  const metric = alertMetric(rule.metric);
  if (metric.target === "containers") {
    if (!deps.inventory.live) return { problem: "The engine is unreachable" };
    const containers = containersOf(deps, rule);
    if (containers.length === 0) return { problem: "No container matches the scope" };
    const errors = containers.map(({ id }) => deps.alerts.logs.get(id)?.error ?? null);
    const error = metric.hasPattern && errors.find((each) => each !== null);
    return { problem: error || null };
  }
  if (metric.target === "stacks") {
    if (!deps.inventory.live) return { problem: "The engine is unreachable" };
    const { size } = stackValues(deps, metric, rule);
    return { problem: size === 0 ? "No stack in the scope has a value" : null };
  }
  const reading = hostReading(deps, metric, rule);
  if (reading.value !== undefined) return { problem: null };
  return { problem: reading.reason, isUnsupported: reading.isUnsupported ?? false };
}

function resetReason(before: AlertRule, after: AlertRule): string | undefined {
  if (before.enabled && !after.enabled) return "The rule was disabled";
  const serializeCondition = (
    { metric, operator, threshold, scope, pattern, path, windowSeconds }: AlertRule,
  ) => JSON.stringify([metric, operator, threshold, scope, pattern, path, windowSeconds]);
  return serializeCondition(before) === serializeCondition(after)
    ? undefined
    : "The rule was changed";
}

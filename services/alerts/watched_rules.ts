/**
 * The rules that are evaluated, with their state and the containers that they watch, in memory.
 *
 * @module
 */

import { selectAlertProgress } from "../../db/alert_progress.ts";
import { type AlertRule, selectEnabledAlertRules } from "../../db/alert_rules.ts";
import { selectSetting } from "../../db/settings.ts";
import type { Deps } from "../deps.ts";
import type { AlertMemory, WatchedContainers, WatchedRule } from "./memory.ts";
import type { Container } from "../containers/inventory.ts";
import type { StackDeps, StackMetric } from "./metrics/kind.ts";
import { stackOf } from "../access/scope.ts";
import { targetHas, targetHasStack } from "../access/target.ts";

/**
 * The setting with the time at which the rules were last evaluated. It is stored instead of the time
 * of each pending condition, which would write many rows every few seconds.
 */
export const EVALUATED_AT = "alerts.evaluatedAt";

/** Reads the rules if they have changed. */
export function watchedRules({ alerts, db }: Pick<Deps, "alerts" | "db">): readonly WatchedRule[] {
  if (alerts.rules && !alerts.isStale) return alerts.rules;
  const before = new Map(alerts.rules?.map((watched) => [watched.rule.id, watched]));
  const rules = selectEnabledAlertRules(db).map((rule): WatchedRule => ({
    rule,
    progress: new Map(),
    unknownSince: before.get(rule.id)?.unknownSince ?? new Map(),
    unseen: new Set(),
    valueKey: valueKeyOf(rule),
    scopeKey: JSON.stringify(rule.scope.target),
  }));
  const byId = new Map(rules.map((watched) => [watched.rule.id, watched]));
  const evaluatedAt = alerts.evaluatedAt ?? selectSetting(db, EVALUATED_AT) ?? null;
  for (const { ruleId, container, ...progress } of selectAlertProgress(db)) {
    const watched = byId.get(ruleId);
    if (watched && progress.state === "pending") {
      if (progress.seenAt === null) progress.seenAt = evaluatedAt;
      else watched.unseen.add(container);
    }
    watched?.progress.set(container, progress);
  }
  alerts.rules = rules;
  alerts.isStale = false;
  return rules;
}

/** Everything that a value depends on besides the container. */
export function valueKeyOf(
  { metric, windowSeconds, pattern, path }: Pick<
    AlertRule,
    "metric" | "windowSeconds" | "pattern" | "path"
  >,
): string {
  return [metric, windowSeconds ?? "", path ?? "", pattern ?? ""].join(" ");
}

/** The containers of a rule; searched once for each scope and state of the inventory. */
export function watchedContainers(
  { alerts, inventory }: Pick<Deps, "alerts" | "inventory">,
  { rule, scopeKey }: WatchedRule,
): WatchedContainers {
  const { scopes } = alerts;
  if (inventory.revision !== scopes.revision) {
    scopes.revision = inventory.revision;
    scopes.byKey.clear();
  }
  let found = scopes.byKey.get(scopeKey);
  if (!found) {
    const positions: number[] = [];
    const names = new Set<string>();
    for (const [position, container] of inventory.list().entries()) {
      if (!targetHas(rule.scope.target, container)) continue;
      positions.push(position);
      names.add(container.name);
    }
    found = { positions, names };
    scopes.byKey.set(scopeKey, found);
  }
  return found;
}

/** The containers that a rule watches; none while the engine is unreachable. */
export const containersOf = (
  { inventory }: Pick<Deps, "inventory">,
  { scope }: Pick<AlertRule, "scope">,
): Container[] =>
  inventory.live ? inventory.list().filter((each) => targetHas(scope.target, each)) : [];

/** The values of the existing stacks that a rule watches; none while the engine is unreachable. */
export function stackValues(
  deps: StackDeps & Pick<Deps, "inventory">,
  { read }: Pick<StackMetric, "read">,
  { scope }: Pick<AlertRule, "scope">,
): Map<string, number> {
  const { inventory } = deps;
  const stacks = new Set(inventory.live ? inventory.list().map(stackOf) : []);
  return new Map(
    [...read(deps)].filter(([stack]) => stacks.has(stack) && targetHasStack(scope.target, stack)),
  );
}

/** Makes the next round read the rules. */
export const forgetRules = (alerts: AlertMemory): void => void (alerts.isStale = true);

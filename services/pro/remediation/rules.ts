/** Remediation rules: a condition and the action to run when it holds. @module */

import {
  countRemediationRules,
  deleteRemediationRule,
  insertRemediationRule,
  type RemediationRule,
  type RemediationSettings,
  selectRemediationRule,
  selectRemediationRules,
  updateRemediationRule,
} from "../../../db/pro/remediation_rules.ts";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { type ReadDeps, resolveContainer } from "../../containers/reads.ts";
import { isSwarmTask } from "../../swarm/tasks.ts";
import { assertMayCause, type Caller } from "../../access/caller.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, requireFound } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { assertBelowLimit } from "../../access/license/limits.ts";
import { comparisonText } from "../../alerts/text.ts";
import { remediationMetric } from "./metrics.ts";

export { REMEDIATION_ACTIONS } from "../../../db/pro/remediation_rules.ts";

/** The progress of a rule whose condition does not hold. */
export const NOT_PENDING = { pending_since: null, seen_at: null } as const;

export interface RemediationRuleView extends RemediationRule {
  /** The condition in words. */
  condition: string;
}

interface TargetOptions {
  /** Accept a container that does not exist. */
  allowMissing?: boolean;
}

/** All rules by name. */
export function listRemediationRules({ db }: Pick<Deps, "db">): RemediationRuleView[] {
  return selectRemediationRules(db).map(toView);
}

/**
 * Stores a new rule.
 *
 * @throws {AppError} `invalid` if the target is this service or a Swarm task, or does not exist;
 * `forbidden` for a caller who may not do what an enabled rule would do.
 * @throws {LimitError} When the edition allows no more rules.
 */
export async function createRemediationRule(
  deps: ReadDeps & Pick<Deps, "db" | "license" | "now">,
  caller: Caller,
  settings: RemediationSettings,
  { allowMissing = false }: TargetOptions = {},
): Promise<RemediationRuleView> {
  const { db, license, now } = deps;
  assertMayEnable(caller, settings);
  const target = await checkTarget(deps, settings.action_target, { allowMissing });
  assertBelowLimit(license, "remediation_rules", countRemediationRules(db));
  const rule: RemediationRule = {
    ...settings,
    ...NOT_PENDING,
    id: crypto.randomUUID(),
    created_at: now().toISOString(),
    target_name: target?.name ?? null,
    last_triggered_at: null,
    trigger_count: 0,
    firings: [],
  };
  insertRemediationRule(db, rule);
  return toView(rule);
}

/**
 * Changes a rule. A new condition or target resets its progress, but not its cooldown. A running
 * action finishes with the old settings.
 *
 * @throws {AppError} As for a new rule; `not_found`.
 */
export async function changeRemediationRule(
  deps: ReadDeps & Pick<Deps, "db">,
  caller: Caller,
  id: string,
  change: Change<RemediationSettings>,
  { allowMissing = false }: TargetOptions = {},
): Promise<RemediationRuleView> {
  const { db } = deps;
  const isSame = requireRule(db, id).action_target === change.action_target;
  const target = change.action_target === undefined
    ? undefined
    : await checkTarget(deps, change.action_target, { allowMissing: allowMissing || isSame });
  // Read again: another request may have changed or deleted the rule during the check.
  const before = requireRule(db, id);
  const rule = applyChange(before, change);
  assertMayEnable(caller, rule);
  if (change.action_target !== undefined) rule.target_name = target?.name ?? null;
  if (hasOtherCondition(before, rule) || !rule.enabled) Object.assign(rule, NOT_PENDING);
  if (rule.enabled && !before.enabled) rule.firings = [];
  updateRemediationRule(db, rule);
  return toView(rule);
}

const toView = (rule: RemediationRule): RemediationRuleView => ({
  ...rule,
  condition: comparisonText(remediationMetric(rule.condition_metric), {
    operator: rule.condition_operator,
    threshold: rule.condition_threshold,
    durationSeconds: rule.condition_duration,
    windowSeconds: null,
  }),
});

/** A rule that is off does nothing: every user with `remediation:write` can turn it off. */
function assertMayEnable(
  caller: Caller,
  { enabled, action_type }: Pick<RemediationSettings, "enabled" | "action_type">,
): void {
  if (enabled) assertMayCause(caller, action_type);
}

/** Deletes a rule; its history stays. @throws {AppError} `not_found`. */
export function removeRemediationRule({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteRemediationRule(db, id)) throw notFound("Remediation rule", id);
}

/** Explains why rules cannot act on a container; `undefined` if they can. */
export async function findObstacle(
  { engine }: Pick<Deps, "engine">,
  container: Container,
): Promise<string | undefined> {
  const { name, self } = container;
  if (self) return `${name} is the service's own container`;
  if (await isSwarmTask(engine, container)) {
    return `${name} is a task of a Swarm service; Swarm replaces its containers itself`;
  }
  return undefined;
}

function hasOtherCondition(a: RemediationRule, b: RemediationRule): boolean {
  return a.condition_metric !== b.condition_metric ||
    a.condition_operator !== b.condition_operator ||
    a.condition_threshold !== b.condition_threshold ||
    a.action_target !== b.action_target;
}

/**
 * Finds the target and checks that rules can act on it.
 *
 * @returns `undefined` if it may be missing, or the engine is unreachable.
 * @throws {AppError} `invalid`.
 */
async function checkTarget(
  deps: ReadDeps,
  ref: string,
  { allowMissing }: TargetOptions,
): Promise<Container | undefined> {
  let target: Container;
  try {
    target = await resolveContainer(deps, ref);
  } catch (error) {
    if (error instanceof EngineUnreachableError) return undefined;
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    if (allowMissing) return undefined;
    throw new AppError(
      "invalid",
      `body.action_target: container ${ref} does not exist; set allow_missing to accept it`,
    );
  }
  const obstacle = await findObstacle(deps, target);
  if (obstacle) throw new AppError("invalid", `body.action_target: ${obstacle}`);
  return target;
}

function requireRule(db: Deps["db"], id: string): RemediationRule {
  return requireFound(selectRemediationRule(db, id), "Remediation rule", id);
}

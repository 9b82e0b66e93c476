/**
 * Remediation rules: what is done about which condition.
 *
 * @module
 */

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
import { type ReadDeps, resolveContainer } from "../../ce/containers/reads.ts";
import { isSwarmTask } from "../../ce/swarm/tasks.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";
import { assertBelowLimit } from "../../license/limits.ts";

export {
  REMEDIATION_ACTIONS,
  REMEDIATION_METRICS,
  REMEDIATION_OPERATORS,
} from "../../../db/pro/remediation_rules.ts";
export type { RemediationRule, RemediationSettings };

const BEGINNING = { pending_since: null, seen_at: null } as const;

/** Whether the target of a rule may be missing. */
interface Missing {
  allowMissing?: boolean;
}

/** All rules by name. */
export function listRemediationRules({ db }: Pick<Deps, "db">): RemediationRule[] {
  return selectRemediationRules(db);
}

/**
 * Stores a new rule.
 *
 * @throws {AppError} `invalid` where it would act on the service itself or on a Swarm task, or its
 * target is missing.
 * @throws {LimitError} When the edition allows no more rules.
 */
export async function createRemediationRule(
  deps: ReadDeps & Pick<Deps, "db" | "license" | "now">,
  settings: RemediationSettings,
  { allowMissing = false }: Missing = {},
): Promise<RemediationRule> {
  const { db, license, now } = deps;
  const target = await acceptableTarget(deps, settings.action_target, { allowMissing });
  assertBelowLimit(license, "remediation_rules", countRemediationRules(db));
  const rule: RemediationRule = {
    ...settings,
    ...BEGINNING,
    id: crypto.randomUUID(),
    created_at: now().toISOString(),
    target_name: target?.name ?? null,
    last_triggered_at: null,
    trigger_count: 0,
    firings: [],
  };
  insertRemediationRule(db, rule);
  return rule;
}

/**
 * Changes a rule. With another condition or target, or turned on again, it begins anew; its
 * cooldown goes on. An action under way ends as it began.
 *
 * @throws {AppError} As at creation; `not_found`.
 */
export async function changeRemediationRule(
  deps: ReadDeps & Pick<Deps, "db">,
  id: string,
  change: Change<RemediationSettings>,
  { allowMissing = false }: Missing = {},
): Promise<RemediationRule> {
  const { db } = deps;
  const isSame = existing(db, id).action_target === change.action_target;
  const target = change.action_target === undefined
    ? undefined
    : await acceptableTarget(deps, change.action_target, { allowMissing: allowMissing || isSame });
  // Read only now: it may have changed or have gone during the check.
  const before = existing(db, id);
  const rule = applyChange(before, change);
  if (change.action_target !== undefined) rule.target_name = target?.name ?? null;
  if (hasOtherCondition(before, rule) || !rule.enabled) Object.assign(rule, BEGINNING);
  if (rule.enabled && !before.enabled) rule.firings = [];
  updateRemediationRule(db, rule);
  return rule;
}

/** Deletes a rule; its history stays. @throws {AppError} `not_found`. */
export function removeRemediationRule({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteRemediationRule(db, id)) throw notFound("Remediation rule", id);
}

/** Why no rule ever acts on this container, or `undefined`. */
export async function obstacleTo(
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

/** The container as far as it is known. @throws {AppError} `invalid`. */
async function acceptableTarget(
  deps: ReadDeps,
  ref: string,
  { allowMissing }: Missing,
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
      `body.action_target: container ${ref} does not exist; allow_missing accepts it nevertheless`,
    );
  }
  const obstacle = await obstacleTo(deps, target);
  if (obstacle) throw new AppError("invalid", `body.action_target: ${obstacle}`);
  return target;
}

function existing(db: Deps["db"], id: string): RemediationRule {
  const rule = selectRemediationRule(db, id);
  if (!rule) throw notFound("Remediation rule", id);
  return rule;
}

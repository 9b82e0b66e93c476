/**
 * Runs of remediation rules: what is to be done is written down before it is done, so that no end
 * of the service makes it forgotten or done twice.
 *
 * @module
 */

import {
  type RemediationProgress,
  type RemediationRule,
  selectEnabledRemediationRules,
  selectRemediationRule,
  updateRemediationRule,
} from "../../../db/pro/remediation_rules.ts";
import {
  type BegunRemediation,
  countRemediationRuns,
  deleteRemediationRunsBefore,
  deleteRemediationRunsBeyond,
  insertRemediationRun,
  type RemediationRun,
  selectRemediationRuns,
  selectUnfinishedRemediations,
  updateRemediationEnd,
} from "../../../db/pro/remediation_runs.ts";
import { automaticActor, recordAudit } from "../../ce/auth/audit.ts";
import {
  type ActionDeps,
  restartContainer,
  startContainer,
  stopContainer,
} from "../../ce/containers/actions.ts";
import { identityOf } from "../../ce/containers/reserve.ts";
import { createLimiter } from "../../limiter.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { asAppError, notFound } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";
import { errorFields } from "../../log.ts";
import { decide, firesTooOften, FIRINGS_MAX } from "./decision.ts";
import { obstacleTo } from "./rules.ts";
import { conditionValue, targetIn, type ValueDeps } from "./values.ts";

export { REMEDIATION_STATUSES } from "../../../db/pro/remediation_runs.ts";
export type { RemediationRun };

/** Actions at the same time. */
const RUNNING_MAX = 16;

/** How long the end of the service waits for actions under way, in milliseconds. */
const DRAIN_MS = 5_000;

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Most runs that are kept of each rule. */
const RUNS_MAX = 1_000;

/** The engine's sentences are short; nothing longer is kept. */
const ERROR_MAX = 500;

const TOO_OFTEN = `The rule fired ${FIRINGS_MAX} times within an hour and was disabled`;

type RemediationDeps = EmitDeps & ActionDeps & ValueDeps & Pick<Deps, "log">;

/** Looks at the rules and knows which actions have not ended. */
export interface Remediator {
  /**
   * Looks at every rule once and starts what is to be done; does not wait for it. Nothing is
   * decided in maintenance, while the engine is away, and about a container that is acted on.
   *
   * @throws The first failure of a rule, after all others have been looked at.
   */
  look(): void;
  /** When no action is under way. */
  settled(): Promise<void>;
  /** Waits a while for the actions under way; what ends later is left to `recoverRemediations()`. */
  close(): Promise<void>;
}

/** Finished runs, newest first. */
export function listRemediationRuns(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { history: RemediationRun[]; total: number; limit: number; offset: number } {
  return {
    history: selectRemediationRuns(db, { limit, offset }),
    total: countRemediationRuns(db),
    limit,
    offset,
  };
}

/**
 * Ends what the last end of the service cut short: whether it was done is not known, and it is not
 * done again. Only before anything is started.
 */
export function recoverRemediations(deps: EmitDeps): void {
  for (const run of selectUnfinishedRemediations(deps.db)) {
    endRun(deps, run, failed("The service stopped before the action finished"));
  }
  for (const rule of selectEnabledRemediationRules(deps.db)) stopIfTooOften(deps, rule.id);
}

export function sweepRemediationRuns({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteRemediationRunsBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
  deleteRemediationRunsBeyond(db, RUNS_MAX);
}

export function createRemediator(deps: RemediationDeps): Remediator {
  const { db, inventory, log, maintenance, now } = deps;
  const underWay = new Map<string, Promise<void>>();
  const targets = new Map<string, string>();
  const gate = createLimiter({ what: "actions", running: RUNNING_MAX, waiting: Infinity });
  let closed = false;

  const run = async (begun: BegunRemediation, rule: RemediationRule) => {
    const outcome = await gate(() => act(deps, rule));
    if (!closed) endRun(deps, begun, outcome);
  };

  const lookAt = (rule: RemediationRule) => {
    if (underWay.has(rule.id)) return;
    const target = targetIn(inventory, rule);
    if (target && [...targets.values()].includes(target.id)) return;
    if (target && deps.reservations.find(identityOf(target))) return;
    const value = conditionValue(deps, rule.condition_metric, target);
    const decision = decide(rule, value, now());
    // A container that did not exist when the rule was made gets its name here.
    const seen = { ...rule, target_name: rule.target_name ?? target?.name ?? null };
    const looked: RemediationRule = { ...seen, ...decision.progress };
    if (!decision.fires) {
      if (differs(looked, rule)) updateRemediationRule(db, looked);
      return;
    }
    const begun = beginRun(deps, looked, value!);
    if (target) targets.set(rule.id, target.id);
    const ended = run(begun, looked)
      .catch((error) => log.error("remediation run not recorded", errorFields(error)))
      .finally(() => {
        underWay.delete(rule.id);
        targets.delete(rule.id);
      });
    underWay.set(rule.id, ended);
  };

  return {
    look() {
      if (maintenance.active || !inventory.live) return;
      const failures: unknown[] = [];
      for (const rule of selectEnabledRemediationRules(db)) {
        try {
          lookAt(rule);
        } catch (error) {
          failures.push(error);
        }
      }
      if (failures.length) throw failures[0];
    },
    async settled() {
      while (underWay.size) await Promise.all(underWay.values());
    },
    async close() {
      await withDeadline(Promise.all(underWay.values()), DRAIN_MS);
      closed = true;
    },
  };
}

type Outcome = Pick<RemediationRun, "status" | "error">;

const failed = (error: string): Outcome => ({
  status: "failure",
  error: error.slice(0, ERROR_MAX),
});

const skipped = (error: string): Outcome => ({ status: "skipped", error });

/** Writes down what is to be done, together with the rule's firing. */
function beginRun(
  { db, now }: Pick<Deps, "db" | "now">,
  rule: RemediationRule,
  value: number,
): BegunRemediation {
  const run: BegunRemediation = {
    id: crypto.randomUUID(),
    rule_id: rule.id,
    rule_name: rule.name,
    metric_value: value,
    action_type: rule.action_type,
    action_target: rule.action_target,
    started_at: now().toISOString(),
  };
  db.transaction(() => {
    insertRemediationRun(db, run);
    updateRemediationRule(db, { ...rule, trigger_count: rule.trigger_count + 1 });
  });
  return run;
}

/** Acts on the container as it is found now; every guard is looked at again. */
async function act(deps: RemediationDeps, rule: RemediationRule): Promise<Outcome> {
  try {
    if (deps.maintenance.active) return skipped("Maintenance mode is on");
    const target = targetIn(deps.inventory, rule);
    if (!target) throw notFound("Container", rule.action_target);
    const obstacle = await obstacleTo(deps, target);
    if (obstacle) return skipped(obstacle);
    await actOn(deps, target, rule);
    return { status: "success", error: null };
  } catch (error) {
    const known = asAppError(error);
    if (!known) deps.log.error("remediation failed", { rule: rule.id, ...errorFields(error) });
    return failed(known?.message ?? "Internal error");
  }
}

async function actOn(
  deps: RemediationDeps,
  { id }: Container,
  { action_type, action_config }: RemediationRule,
): Promise<void> {
  const { timeout_seconds: timeoutS } = action_config;
  const options = timeoutS === undefined ? {} : { timeoutS };
  switch (action_type) {
    case "start":
      return void await startContainer(deps, id);
    case "stop":
      return void await stopContainer(deps, id, options);
    case "restart":
      return void await restartContainer(deps, id, options);
  }
}

function endRun(deps: EmitDeps, run: BegunRemediation, outcome: Outcome): void {
  const { db, now } = deps;
  const { id, rule_id, rule_name, action_type, action_target } = run;
  const store = () =>
    updateRemediationEnd(db, { id, ...outcome, finished_at: now().toISOString() });
  if (outcome.status === "skipped") store();
  else {
    const data = {
      rule: rule_name,
      ruleId: rule_id,
      action: action_type,
      target: action_target,
      ...outcome,
    };
    emit(deps, "remediation.executed", data, () => {
      store();
      recordAudit(deps, {
        caller: automaticActor("remediation"),
        action: `remediation ${action_type}`,
        target: action_target,
        targets: [action_target, rule_name],
        outcome: outcome.status === "success" ? "success" : "failure",
      });
    });
  }
  stopIfTooOften(deps, rule_id);
}

/** Turns a rule off that does not help, and says so in its history. */
function stopIfTooOften(deps: EmitDeps, ruleId: string): void {
  const { db, now } = deps;
  const rule = selectRemediationRule(db, ruleId);
  if (!rule?.enabled || !firesTooOften(rule, now())) return;
  const data = { rule: rule.name, ruleId, reason: TOO_OFTEN };
  emit(deps, "remediation.disabled", data, () => {
    updateRemediationRule(db, { ...rule, enabled: false, pending_since: null, seen_at: null });
    const at = now().toISOString();
    insertRemediationRun(db, {
      id: crypto.randomUUID(),
      rule_id: ruleId,
      rule_name: rule.name,
      metric_value: null,
      action_type: rule.action_type,
      action_target: rule.action_target,
      started_at: at,
      finished_at: at,
      ...skipped(TOO_OFTEN),
    });
  });
}

function differs(
  a: RemediationProgress & Pick<RemediationRule, "target_name">,
  b: RemediationProgress & Pick<RemediationRule, "target_name">,
): boolean {
  return a.pending_since !== b.pending_since || a.seen_at !== b.seen_at ||
    a.target_name !== b.target_name;
}

/**
 * Runs of remediation rules. A run is recorded before its action starts, so that a crash neither
 * loses nor repeats it.
 *
 * @module
 */

import type { Page, Paged } from "../../../db/page.ts";
import {
  type RemediationRule,
  selectEnabledRemediationRules,
  selectRemediationRule,
  updateRemediationRule,
} from "../../../db/pro/remediation_rules.ts";
import {
  countRemediationRuns,
  deleteRemediationRunsBefore,
  deleteRemediationRunsBeyond,
  insertRemediationRun,
  type RemediationRun,
  selectRemediationRuns,
  selectUnfinishedRemediations,
  type StartedRemediation as StartedRun,
  updateRemediationEnd,
} from "../../../db/pro/remediation_runs.ts";
import { automaticActor, recordAudit } from "../../access/audit/audit.ts";
import {
  type ActionDeps,
  restartContainer,
  startContainer,
  stopContainer,
} from "../../containers/actions.ts";
import { identityOf } from "../../containers/reserve.ts";
import { createLimiter } from "../../limiter.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { messageFor, requireFound } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { errorFields } from "../../log.ts";
import { decide, firesTooOften, FIRINGS_MAX } from "./decision.ts";
import { findObstacle, NOT_PENDING } from "./rules.ts";
import { remediationMetric, type ValueDeps } from "./metrics.ts";
import { findTarget, lastKnownName } from "./target.ts";

export { REMEDIATION_STATUSES } from "../../../db/pro/remediation_runs.ts";

/** Concurrent actions. */
const RUNNING_MAX = 16;

/** Longest wait of a shutdown for running actions, in milliseconds. */
const DRAIN_MS = 5_000;

const RETENTION_MS = 90 * 24 * 60 * 60 * 1000;

/** Runs kept per rule. */
const RUNS_MAX = 1_000;

/** Limit of a stored error, in characters. */
const ERROR_MAX = 500;

const TOO_OFTEN = `The rule fired ${FIRINGS_MAX} times within an hour and was disabled`;

type RemediationDeps = EmitDeps & ActionDeps & ValueDeps & Pick<Deps, "log">;

/** Evaluates the rules and runs their actions. */
export interface Remediator {
  /**
   * Evaluates every rule once and starts the actions of those that fire, without waiting for them.
   * Skips all rules during maintenance or while the engine is unreachable, and the rules of a
   * container that has an action in progress or is in a maintenance window.
   *
   * @throws The first error of a rule, after all rules were evaluated.
   */
  evaluate(): void;
  /** Waits until no action is running. */
  waitUntilIdle(): Promise<void>;
  /** Waits for running actions up to a limit; `recoverRemediations()` ends the others. */
  close(): Promise<void>;
}

/** Finished runs, newest first. */
export function listRemediationRuns(
  { db }: Pick<Deps, "db">,
  page: Page,
): { history: RemediationRun[] } & Paged {
  return { history: selectRemediationRuns(db, page), total: countRemediationRuns(db), ...page };
}

/**
 * Marks interrupted runs as failed: whether the action was done is unknown, and it is not repeated.
 * Must be called before any action starts.
 */
export function recoverRemediations(deps: EmitDeps): void {
  for (const run of selectUnfinishedRemediations(deps.db)) {
    endRun(deps, run, failed("The service stopped before the action finished"));
  }
  for (const rule of selectEnabledRemediationRules(deps.db)) disableIfTooOften(deps, rule.id);
}

export function sweepRemediationRuns({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteRemediationRunsBefore(db, new Date(now().getTime() - RETENTION_MS).toISOString());
  deleteRemediationRunsBeyond(db, RUNS_MAX);
}

export function createRemediator(deps: RemediationDeps): Remediator {
  const { db, inventory, log, maintenance, now } = deps;
  const running = new Map<string, Promise<void>>();
  const targets = new Map<string, string>();
  const limiter = createLimiter({ what: "actions", running: RUNNING_MAX, waiting: Infinity });
  let closed = false;

  const execute = async (run: StartedRun, rule: RemediationRule) => {
    const outcome = await limiter(() => act(deps, rule));
    if (!closed) endRun(deps, run, outcome);
  };

  const evaluateRule = (rule: RemediationRule) => {
    if (running.has(rule.id)) return;
    const target = findTarget(inventory, rule);
    if (target && maintenance.includes(target)) return;
    if (target && [...targets.values()].includes(target.id)) return;
    if (target && deps.reservations.find(identityOf(target))) return;
    const value = remediationMetric(rule.condition_metric).read(deps, target);
    const decision = decide(rule, value, now());
    const evaluated: RemediationRule = {
      ...rule,
      ...decision.progress,
      target_name: lastKnownName(rule, target),
    };
    if (!decision.fires) {
      if (hasProgressed(rule, evaluated)) updateRemediationRule(db, evaluated);
      return;
    }
    const run = startRun(deps, evaluated, value!);
    if (target) targets.set(rule.id, target.id);
    const finished = execute(run, evaluated)
      .catch((error) => log.error("remediation run not recorded", errorFields(error)))
      .finally(() => {
        running.delete(rule.id);
        targets.delete(rule.id);
      });
    running.set(rule.id, finished);
  };

  return {
    evaluate() {
      if (maintenance.active || !inventory.live) return;
      const errors: unknown[] = [];
      for (const rule of selectEnabledRemediationRules(db)) {
        try {
          evaluateRule(rule);
        } catch (error) {
          errors.push(error);
        }
      }
      if (errors.length) throw errors[0];
    },
    async waitUntilIdle() {
      while (running.size) await Promise.all(running.values());
    },
    async close() {
      await withDeadline(Promise.all(running.values()), DRAIN_MS);
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

/** Records a run together with the rule's progress. */
function startRun(
  { db, now }: Pick<Deps, "db" | "now">,
  rule: RemediationRule,
  value: number,
): StartedRun {
  const run: StartedRun = {
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

/** Runs the action. The checks are repeated: the run may have waited for the limiter. */
async function act(deps: RemediationDeps, rule: RemediationRule): Promise<Outcome> {
  try {
    if (deps.maintenance.active) return skipped("Maintenance mode is on");
    const target = requireFound(findTarget(deps.inventory, rule), "Container", rule.action_target);
    if (deps.maintenance.includes(target)) return skipped("A maintenance window is open");
    const obstacle = await findObstacle(deps, target);
    if (obstacle) return skipped(obstacle);
    await runAction(deps, target, rule);
    return { status: "success", error: null };
  } catch (error) {
    return failed(messageFor(deps.log, error, "remediation failed", { rule: rule.id }));
  }
}

async function runAction(
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

function endRun(deps: EmitDeps, run: StartedRun, outcome: Outcome): void {
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
  disableIfTooOften(deps, rule_id);
}

/** Disables a rule that fires too often, and records that in its history. */
function disableIfTooOften(deps: EmitDeps, ruleId: string): void {
  const { db, now } = deps;
  const rule = selectRemediationRule(db, ruleId);
  if (!rule?.enabled || !firesTooOften(rule, now())) return;
  const data = { rule: rule.name, ruleId, reason: TOO_OFTEN };
  emit(deps, "remediation.disabled", data, () => {
    updateRemediationRule(db, { ...rule, ...NOT_PENDING, enabled: false });
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

function hasProgressed(before: RemediationRule, after: RemediationRule): boolean {
  return before.pending_since !== after.pending_since || before.seen_at !== after.seen_at ||
    before.target_name !== after.target_name;
}

/** When a remediation rule fires. @module */

import { COMPARE } from "../../alerts/condition.ts";
import type { RemediationProgress, RemediationRule } from "../../../db/pro/remediation_rules.ts";

/**
 * Longest time between two evaluations, in milliseconds. After a longer gap, e.g. a restart, it is
 * unknown whether the condition held throughout, so that its duration starts again.
 */
const GAP_MAX_MS = 60_000;

/** Interval at which `seen_at` is stored while a condition holds, in milliseconds. */
const SEEN_EVERY_MS = 15_000;

/** A rule that fires this often within the window does not help and is disabled. */
export const FIRINGS_MAX = 5;
const FIRINGS_WINDOW_MS = 60 * 60 * 1000;

/** The fields of a rule that `decide()` uses. */
export type DecisionInput =
  & RemediationProgress
  & Pick<
    RemediationRule,
    "condition_operator" | "condition_threshold" | "condition_duration" | "cooldown_seconds"
  >;

/** The result of evaluating a rule. */
interface Decision {
  progress: RemediationProgress;
  fires: boolean;
}

/**
 * Evaluates a rule. It fires if the condition has held without a gap for the rule's duration and
 * the cooldown since it last fired has passed. If the condition still holds then, it fires again.
 *
 * @param value `undefined` while unknown: the rule does not fire, and its progress is kept.
 */
export function decide(rule: DecisionInput, value: number | undefined, now: Date): Decision {
  const { pending_since, seen_at, last_triggered_at, firings } = rule;
  const progress: RemediationProgress = { pending_since, seen_at, last_triggered_at, firings };
  if (value === undefined || firesTooOften(rule, now)) return { progress, fires: false };

  if (!COMPARE[rule.condition_operator](value, rule.condition_threshold)) {
    return { progress: { ...progress, pending_since: null, seen_at: null }, fires: false };
  }
  const at = now.toISOString();
  const since = isContinuous(rule, now) ? pending_since! : at;
  const hasLasted = now.getTime() - Date.parse(since) >= rule.condition_duration * 1000;
  if (hasLasted && hasCooledDown(rule, now)) {
    const recent = [...recentFirings(rule, now), at];
    return {
      progress: { pending_since: since, seen_at: at, last_triggered_at: at, firings: recent },
      fires: true,
    };
  }
  const isRecentlySeen = since === pending_since && seen_at !== null &&
    now.getTime() - Date.parse(seen_at) < SEEN_EVERY_MS;
  return {
    progress: { ...progress, pending_since: since, seen_at: isRecentlySeen ? seen_at : at },
    fires: false,
  };
}

/** Whether the rule must be disabled. */
export function firesTooOften(rule: Pick<RemediationProgress, "firings">, now: Date): boolean {
  return recentFirings(rule, now).length >= FIRINGS_MAX;
}

/** Times in the near future, recorded before the clock was set back, count as well. */
function recentFirings({ firings }: Pick<RemediationProgress, "firings">, now: Date): string[] {
  return firings.filter((at) => Math.abs(now.getTime() - Date.parse(at)) < FIRINGS_WINDOW_MS);
}

/** Whether the condition was evaluated without a long gap since it began to hold. */
function isContinuous(
  { pending_since, seen_at }: Pick<RemediationProgress, "pending_since" | "seen_at">,
  now: Date,
): boolean {
  if (pending_since === null || seen_at === null) return false;
  // After the clock was set back, the start would be in the future.
  return now.getTime() - Date.parse(seen_at) <= GAP_MAX_MS && now >= new Date(pending_since);
}

/** A time far in the future was recorded with a wrong clock and is ignored. */
function hasCooledDown(
  { last_triggered_at, cooldown_seconds }: Pick<
    DecisionInput,
    "last_triggered_at" | "cooldown_seconds"
  >,
  now: Date,
): boolean {
  return last_triggered_at === null ||
    Math.abs(now.getTime() - Date.parse(last_triggered_at)) >= cooldown_seconds * 1000;
}

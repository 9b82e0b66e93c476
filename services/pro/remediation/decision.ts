/**
 * When a remediation rule fires.
 *
 * @module
 */

import type {
  RemediationOperator,
  RemediationProgress,
  RemediationRule,
} from "../../../db/pro/remediation_rules.ts";

/**
 * A condition that was not looked at for longer (a restart, an engine that was away) counts as
 * interrupted: nobody knows whether it held all the while. In milliseconds.
 */
const GAP_MAX_MS = 60_000;

/** How often it is written down that a condition still holds, in milliseconds. */
const SEEN_EVERY_MS = 15_000;

/** A rule that fires so often within the window does not help; it turns itself off (contract). */
export const FIRINGS_MAX = 5;
const FIRINGS_WINDOW_MS = 60 * 60 * 1000;

const HOLDS: Record<RemediationOperator, (value: number, threshold: number) => boolean> = {
  ">": (value, threshold) => value > threshold,
  "<": (value, threshold) => value < threshold,
  ">=": (value, threshold) => value >= threshold,
  "<=": (value, threshold) => value <= threshold,
  "==": (value, threshold) => value === threshold,
};

/** What of a rule decides. */
export type DecidedRule =
  & RemediationProgress
  & Pick<
    RemediationRule,
    "condition_operator" | "condition_threshold" | "condition_duration" | "cooldown_seconds"
  >;

/** What a look at a rule comes to. */
export interface Decision {
  progress: RemediationProgress;
  fires: boolean;
}

/**
 * Decides about one rule. The condition has to hold without a break for the rule's duration, and
 * the cooldown since it last fired has to be over; one that still holds then fires again at once.
 *
 * @param value `undefined` while it is not known: that neither fires nor ends anything.
 */
export function decide(rule: DecidedRule, value: number | undefined, now: Date): Decision {
  const { pending_since, seen_at, last_triggered_at, firings } = rule;
  const progress: RemediationProgress = { pending_since, seen_at, last_triggered_at, firings };
  if (value === undefined || firesTooOften(rule, now)) return { progress, fires: false };

  if (!HOLDS[rule.condition_operator](value, rule.condition_threshold)) {
    return { progress: { ...progress, pending_since: null, seen_at: null }, fires: false };
  }
  const at = now.toISOString();
  const since = unbroken(rule, now) ? pending_since! : at;
  const lasts = now.getTime() - Date.parse(since) >= rule.condition_duration * 1000;
  if (lasts && cooledDown(rule, now)) {
    const recent = [...recentFirings(rule, now), at];
    return {
      progress: { pending_since: since, seen_at: at, last_triggered_at: at, firings: recent },
      fires: true,
    };
  }
  const isSeen = since === pending_since && seen_at !== null &&
    now.getTime() - Date.parse(seen_at) < SEEN_EVERY_MS;
  return {
    progress: { ...progress, pending_since: since, seen_at: isSeen ? seen_at : at },
    fires: false,
  };
}

/** Whether the rule has to turn itself off. */
export function firesTooOften(rule: Pick<RemediationProgress, "firings">, now: Date): boolean {
  return recentFirings(rule, now).length >= FIRINGS_MAX;
}

/** Those that lie in the future were written by a clock that went wrong; they count the same. */
function recentFirings({ firings }: Pick<RemediationProgress, "firings">, now: Date): string[] {
  return firings.filter((at) => Math.abs(now.getTime() - Date.parse(at)) < FIRINGS_WINDOW_MS);
}

/** Whether the condition was watched closely enough since it began to hold. */
function unbroken(
  { pending_since, seen_at }: Pick<RemediationProgress, "pending_since" | "seen_at">,
  now: Date,
): boolean {
  if (pending_since === null || seen_at === null) return false;
  // A clock that was set back would have it begin in the future.
  return now.getTime() - Date.parse(seen_at) <= GAP_MAX_MS && now >= new Date(pending_since);
}

/** A firing that lies far in the future was written by a clock that went wrong. */
function cooledDown(
  { last_triggered_at, cooldown_seconds }: Pick<
    DecidedRule,
    "last_triggered_at" | "cooldown_seconds"
  >,
  now: Date,
): boolean {
  return last_triggered_at === null ||
    Math.abs(now.getTime() - Date.parse(last_triggered_at)) >= cooldown_seconds * 1000;
}

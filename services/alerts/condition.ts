/** Decides when an alert rule fires and when it resolves. @module */

import type { AlertProgress, AlertState } from "../../db/alert_progress.ts";
import type { AlertOperator, AlertRule } from "../../db/alert_rules.ts";

/** Shortest time between two firings of a rule (specification), in milliseconds. */
export const COOLDOWN_MS = 15 * 60 * 1000;

/**
 * Longest time between two checks of a pending condition, in milliseconds. After a longer gap (a
 * restart, an unreachable engine) the condition may not have held throughout, so its duration
 * starts again.
 */
export const GAP_MAX_MS = 60_000;

/** Interval at which `seenAt` of a pending rule is updated, in milliseconds. */
export const SEEN_EVERY_MS = 15_000;

export const COMPARE: Record<AlertOperator, (value: number, threshold: number) => boolean> = {
  ">": (value, threshold) => value > threshold,
  "<": (value, threshold) => value < threshold,
  ">=": (value, threshold) => value >= threshold,
  "<=": (value, threshold) => value <= threshold,
  "==": (value, threshold) => value === threshold,
};

/** The state of a rule that has never fired. */
export const INITIAL_PROGRESS: AlertProgress = {
  state: "ok",
  pendingSince: null,
  seenAt: null,
  lastFiredAt: null,
  alertId: null,
};

/** Best first. */
const STATES: readonly AlertState[] = ["ok", "pending", "no_data", "firing"];

/** The state of a rule whose containers have these states. */
export const worstState = (progress: readonly Pick<AlertProgress, "state">[]): AlertState =>
  STATES[Math.max(0, ...progress.map(({ state }) => STATES.indexOf(state)))]!;

/** Fields of a rule that its condition uses. */
export type Condition = Pick<AlertRule, "operator" | "threshold" | "durationSeconds">;

/** The result of evaluating a rule. */
export interface Decision {
  progress: AlertProgress;
  /** The event to emit. */
  transition: "fired" | "resolved" | undefined;
}

/**
 * Evaluates one rule. It fires after its condition has held without a gap for the rule's duration,
 * and resolves as soon as the condition does not hold. During the cooldown it stays pending, and
 * fires afterwards if the condition still holds.
 *
 * @param value `undefined` while unknown: the rule then neither fires nor resolves. `null` if there
 * cannot be one: the condition does not hold.
 * @param options.gapMaxMs Longest time between two checks.
 * @param options.isPaused During maintenance, a rule stays pending, and a firing one stays firing.
 */
export function evaluateRule(
  rule: Condition,
  before: AlertProgress,
  value: number | null | undefined,
  now: Date,
  { gapMaxMs = GAP_MAX_MS, isPaused = false }: { gapMaxMs?: number; isPaused?: boolean } = {},
): Decision {
  const { state, pendingSince, seenAt, lastFiredAt, alertId } = before;
  if (value === undefined) return { progress: before, transition: undefined };

  // While data was missing, the alert stayed open.
  const isFiring = state === "firing" || alertId !== null;
  if (isFiring && isPaused) return { progress: before, transition: undefined };
  if (value === null || !COMPARE[rule.operator](value, rule.threshold)) {
    return {
      progress: { ...INITIAL_PROGRESS, lastFiredAt },
      transition: isFiring ? "resolved" : undefined,
    };
  }
  if (isFiring) return { progress: { ...before, state: "firing" }, transition: undefined };

  const isContinued = isUnbroken(before, now, gapMaxMs);
  const heldMs = isContinued ? now.getTime() - Date.parse(pendingSince!) : 0;
  const isSeen = isContinued && now.getTime() - Date.parse(seenAt!) < SEEN_EVERY_MS;
  if (isSeen && heldMs < rule.durationSeconds * 1000) {
    // Most pending conditions are waiting, which takes no further work.
    return { progress: before, transition: undefined };
  }
  const at = now.toISOString();
  if (heldMs >= rule.durationSeconds * 1000 && hasCooledDown(before, now) && !isPaused) {
    return {
      progress: { ...INITIAL_PROGRESS, state: "firing", lastFiredAt: at },
      transition: "fired",
    };
  }
  return {
    progress: {
      state: "pending",
      pendingSince: isContinued ? pendingSince : at,
      seenAt: isSeen ? seenAt : at,
      lastFiredAt,
      alertId,
    },
    transition: undefined,
  };
}

/** Whether the condition has been checked without a gap since it began to hold. */
function isUnbroken({ pendingSince, seenAt }: AlertProgress, now: Date, gapMaxMs: number): boolean {
  if (pendingSince === null || seenAt === null) return false;
  // After the clock was set back, `pendingSince` is in the future.
  return now.getTime() - Date.parse(seenAt) <= gapMaxMs &&
    now.getTime() >= Date.parse(pendingSince);
}

/** A `lastFiredAt` far in the future comes from a clock that was wrong, and is ignored. */
export function hasCooledDown(
  { lastFiredAt }: Pick<AlertProgress, "lastFiredAt">,
  now: Date,
): boolean {
  return lastFiredAt === null || Math.abs(now.getTime() - Date.parse(lastFiredAt)) >= COOLDOWN_MS;
}

/**
 * The condition of an alert rule, for the host or for one container: when it fires and resolves.
 *
 * States:
 *
 * - `ok`: the condition does not hold. When it holds, it is `pending`, or `firing` at once if the rule
 *   has no duration.
 * - `pending`: it holds. After the rule's duration, the cooldown and maintenance it is `firing`, and
 *   `ok` as soon as it does not hold.
 * - `firing`: an alert is open. It is resolved as soon as the condition does not hold, which leads to
 *   `ok`, but not during maintenance.
 * - `no_data`: the value has been unknown for too long. The next value leads to any other state; an alert
 *   that was open is still open.
 *
 * An unknown value leads from any state only to `no_data`. A container that was removed counts as unknown
 * for {@linkcode GAP_MAX_MS}, because one that is replaced is back soon, and then as `ok`.
 *
 * @module
 */

import type { AlertProgress } from "../../db/alert_progress.ts";
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

/** Fields of a rule that its condition uses. */
export type Condition = Pick<AlertRule, "operator" | "threshold" | "durationSeconds">;

/** State of a condition between two rounds. */
export interface ConditionState {
  progress: AlertProgress;
  /** Since when the value is unknown, in Unix milliseconds. */
  unknownSince: number | undefined;
  /** Whether a pending condition cannot be evaluated now; its `seenAt` is stored. */
  isUnseen: boolean;
}

type WatchedCondition = Condition & Pick<AlertRule, "forMissingDataSeconds">;

/** The state of a condition of which nothing is known; it takes no memory. */
export const INITIAL_STATE: ConditionState = {
  progress: INITIAL_PROGRESS,
  unknownSince: undefined,
  isUnseen: false,
};

/**
 * Inputs of a condition in a round:
 *
 * - `value`: `undefined` while unknown, `null` if there cannot be one
 * - `skipped`: the condition is not evaluated in this round
 * - `gone`: the container was removed, or has left the scope of the rule
 */
export type Input =
  | { type: "value"; value: number | null | undefined; isPaused: boolean }
  | { type: "skipped" }
  | { type: "gone"; isPaused: boolean };

/** Event to emit with the progress, or `store` for progress without an event. */
export type Effect = "fired" | "resolved" | "no_data" | "store";

/** A state that does not change stays the same object. */
export interface Step {
  state: ConditionState;
  effects: readonly Effect[];
}

/** Takes a condition to its next state. */
export function next(
  rule: WatchedCondition,
  before: ConditionState,
  input: Input,
  now: Date,
): Step {
  switch (input.type) {
    case "skipped":
      return afterSkip(before);
    case "gone":
      return afterGone(rule, before, input.isPaused, now);
    case "value":
      return input.value === undefined
        ? afterUnknown(rule, before, input.isPaused, now)
        : afterValue(rule, before, input.value, input.isPaused, now);
  }
}

/** Whether a condition of which nothing is known stays so: it needs no state. */
export const isIdle = (rule: WatchedCondition, value: number | null | undefined): boolean =>
  value === undefined ? rule.forMissingDataSeconds === null : !holds(rule, value);

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
  if (!holds(rule, value)) {
    if (state === "ok" && !isFiring) return { progress: before, transition: undefined };
    return {
      progress: { ...INITIAL_PROGRESS, lastFiredAt },
      transition: isFiring ? "resolved" : undefined,
    };
  }
  if (isFiring) {
    const progress = state === "firing" ? before : { ...before, state: "firing" as const };
    return { progress, transition: undefined };
  }

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

function afterSkip(before: ConditionState): Step {
  if (before.progress.state !== "pending" || before.isUnseen) return { state: before, effects: [] };
  return { state: { ...before, isUnseen: true }, effects: ["store"] };
}

function afterGone(rule: Condition, before: ConditionState, isPaused: boolean, now: Date): Step {
  if (before.progress.state === "ok") {
    // The names of short-lived containers would fill the memory.
    const isForgotten = hasCooledDown(before.progress, now);
    return {
      state: isForgotten ? INITIAL_STATE : { ...before, unknownSince: undefined },
      effects: [],
    };
  }
  return unknownMs(before, now) < GAP_MAX_MS
    ? afterSkip(unknownFrom(before, now))
    : afterValue(rule, before, null, isPaused, now);
}

function afterUnknown(
  { forMissingDataSeconds }: Pick<AlertRule, "forMissingDataSeconds">,
  before: ConditionState,
  isPaused: boolean,
  now: Date,
): Step {
  const unknown = unknownFrom(before, now);
  const isMissing = !isPaused && before.progress.state !== "no_data" &&
    forMissingDataSeconds !== null &&
    unknownMs(before, now) >= forMissingDataSeconds * 1000;
  if (!isMissing) return afterSkip(unknown);
  const state = "no_data" as const;
  const progress = { ...before.progress, state, pendingSince: null, seenAt: null };
  return { state: { ...unknown, progress, isUnseen: false }, effects: ["no_data"] };
}

function afterValue(
  rule: Condition,
  before: ConditionState,
  value: number | null,
  isPaused: boolean,
  now: Date,
): Step {
  const { progress, transition } = evaluateRule(rule, before.progress, value, now, { isPaused });
  const isKnown = before.unknownSince === undefined && !before.isUnseen;
  if (progress === before.progress && isKnown) return { state: before, effects: [] };
  const hasChanged = before.isUnseen || progress.state !== before.progress.state ||
    progress.pendingSince !== before.progress.pendingSince;
  return {
    state: { progress, unknownSince: undefined, isUnseen: false },
    effects: transition ? [transition] : hasChanged ? ["store"] : [],
  };
}

const holds = ({ operator, threshold }: Condition, value: number | null): boolean =>
  value !== null && COMPARE[operator](value, threshold);

const unknownMs = ({ unknownSince }: ConditionState, now: Date): number =>
  unknownSince === undefined ? 0 : ageMs(unknownSince, now);

const unknownFrom = (state: ConditionState, now: Date): ConditionState =>
  state.unknownSince === undefined ? { ...state, unknownSince: now.getTime() } : state;

/** Whether the condition has been checked without a gap since it began to hold. */
function isUnbroken({ pendingSince, seenAt }: AlertProgress, now: Date, gapMaxMs: number): boolean {
  if (pendingSince === null || seenAt === null) return false;
  // After the clock was set back, `pendingSince` is in the future.
  return now.getTime() - Date.parse(seenAt) <= gapMaxMs &&
    now.getTime() >= Date.parse(pendingSince);
}

/** A `lastFiredAt` far in the future comes from a clock that was wrong, and is ignored. */
const hasCooledDown = ({ lastFiredAt }: AlertProgress, now: Date): boolean =>
  lastFiredAt === null || ageMs(Date.parse(lastFiredAt), now) >= COOLDOWN_MS;

const ageMs = (timeMs: number, now: Date): number => Math.abs(now.getTime() - timeMs);

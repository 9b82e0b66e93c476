import { deepEqual, equal } from "node:assert/strict";
import {
  decide,
  type DecisionInput,
  firesTooOften,
} from "../../../../services/pro/remediation/decision.ts";

const START = Date.parse("2026-01-01T12:00:00.000Z");

/** Seconds after the start, as a stored time. */
const at = (seconds: number) => new Date(START + seconds * 1000).toISOString();

const rule: DecisionInput = {
  condition_operator: ">",
  condition_threshold: 90,
  condition_duration: 0,
  cooldown_seconds: 900,
  pending_since: null,
  seen_at: null,
  last_triggered_at: null,
  firings: [],
};

/** Evaluates the rule at the given seconds; the default value is 95. @returns When it fired. */
function firingsOf(
  changes: Partial<DecisionInput>,
  evaluations: readonly (number | [second: number, value: number | undefined])[],
): number[] {
  let current: DecisionInput = { ...rule, ...changes };
  const fired: number[] = [];
  for (const evaluation of evaluations) {
    const [second, value] = typeof evaluation === "number" ? [evaluation, 95] : evaluation;
    const { progress, fires } = decide(current, value, new Date(START + second * 1000));
    current = { ...current, ...progress };
    if (fires) fired.push(second);
  }
  return fired;
}

const every5s = (from: number, to: number) =>
  Array.from({ length: (to - from) / 5 + 1 }, (_, i) => from + 5 * i);

const low = (second: number): [number, number] => [second, 10];
const unknown = (second: number): [number, undefined] => [second, undefined];

for (
  const { what, changes = {}, evaluations, fires } of [
    { what: "immediately without a duration", evaluations: [0], fires: [0] },
    { what: "never if the condition does not hold", evaluations: [low(0), low(5)], fires: [] },
    { what: "never if the value is unknown", evaluations: [unknown(0), unknown(5)], fires: [] },
    {
      what: "when the condition has held for the duration",
      changes: { condition_duration: 30 },
      evaluations: every5s(0, 60),
      fires: [30],
    },
    {
      what: "never if the condition was interrupted",
      changes: { condition_duration: 30 },
      evaluations: [...every5s(0, 25), low(30), ...every5s(35, 60)],
      fires: [],
    },
    {
      what: "even if the value was unknown for a moment",
      changes: { condition_duration: 30 },
      evaluations: [...every5s(0, 10), unknown(15), unknown(20), ...every5s(25, 40)],
      fires: [30],
    },
    {
      what: "later if the value was unknown for more than a minute",
      changes: { condition_duration: 100 },
      evaluations: [...every5s(0, 20), ...every5s(90, 150)],
      fires: [],
    },
    {
      what: "again after the cooldown if the condition still holds",
      changes: { cooldown_seconds: 60 },
      evaluations: every5s(0, 130),
      fires: [0, 60, 120],
    },
    {
      what: "again after the cooldown, also with a duration",
      changes: { condition_duration: 30, cooldown_seconds: 60 },
      evaluations: every5s(0, 160),
      fires: [30, 90, 150],
    },
    {
      what: "once per cooldown, even if the condition starts again",
      changes: { cooldown_seconds: 60 },
      evaluations: [0, low(5), 10, low(15), 20, 59, 60],
      fires: [0, 60],
    },
    {
      what: "at every evaluation without a cooldown, five times",
      changes: { cooldown_seconds: 0 },
      evaluations: every5s(0, 60),
      fires: [0, 5, 10, 15, 20],
    },
    {
      what: "without limit with the default cooldown, four times per hour",
      evaluations: every5s(0, 7200),
      fires: [0, 900, 1800, 2700, 3600, 4500, 5400, 6300, 7200],
    },
    {
      what: "at most five times per hour",
      changes: { cooldown_seconds: 700 },
      evaluations: every5s(0, 3500),
      fires: [0, 700, 1400, 2100, 2800],
    },
    {
      what: "even if the last firing is far in the future",
      changes: { last_triggered_at: at(100_000) },
      evaluations: [0],
      fires: [0],
    },
    {
      what: "later if the clock was set back",
      changes: { condition_duration: 30, pending_since: at(500), seen_at: at(500) },
      evaluations: [0, 25],
      fires: [],
    },
    {
      what: "after a short restart with the same start",
      changes: { condition_duration: 30, pending_since: at(-30), seen_at: at(-20) },
      evaluations: [0],
      fires: [0],
    },
    {
      what: "later after a long downtime of the service",
      changes: { condition_duration: 30, pending_since: at(-300), seen_at: at(-200) },
      evaluations: [0],
      fires: [],
    },
  ]
) {
  Deno.test(`remediation fires ${what}`, () => {
    deepEqual(firingsOf(changes, evaluations as Parameters<typeof firingsOf>[1]), fires);
  });
}

for (
  const [operator, values] of [
    [">", [false, false, true]],
    ["<", [true, false, false]],
    [">=", [false, true, true]],
    ["<=", [true, true, false]],
    ["==", [false, true, false]],
  ] as const
) {
  Deno.test(`a remediation condition supports ${operator}`, () => {
    const compared = [89.9, 90, 90.1].map((value) =>
      decide({ ...rule, condition_operator: operator }, value, new Date(START)).fires
    );
    deepEqual(compared, values);
  });
}

Deno.test("a firing counts for an hour", () => {
  const firings = [at(-3600), at(-3599), at(-10)];
  const { progress } = decide({ ...rule, firings }, 95, new Date(START));
  deepEqual(progress, {
    pending_since: at(0),
    seen_at: at(0),
    last_triggered_at: at(0),
    firings: [at(-3599), at(-10), at(0)],
  });
});

Deno.test("five firings within an hour are too many", () => {
  const four = [at(-3000), at(-2000), at(-1000), at(0)];
  const now = new Date(START);
  equal(firesTooOften({ firings: four }, now), false);
  equal(firesTooOften({ firings: [at(-3600), ...four] }, now), false);
  equal(firesTooOften({ firings: [at(-3599), ...four] }, now), true);
});

Deno.test("a condition that keeps holding is not stored at every evaluation", () => {
  const pending = { ...rule, condition_duration: 60, pending_since: at(0), seen_at: at(0) };
  const after = (second: number) => decide(pending, 95, new Date(START + second * 1000)).progress;
  deepEqual([after(5).seen_at, after(14).seen_at, after(15).seen_at], [at(0), at(0), at(15)]);
});

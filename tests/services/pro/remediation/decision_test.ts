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

/** Looks at the rule at the given seconds; a value is 95 unless given. @returns When it fired. */
function firingsOf(
  changes: Partial<DecisionInput>,
  looks: readonly (number | [second: number, value: number | undefined])[],
): number[] {
  let current: DecisionInput = { ...rule, ...changes };
  const fired: number[] = [];
  for (const look of looks) {
    const [second, value] = typeof look === "number" ? [look, 95] : look;
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
  const { what, changes = {}, looks, fires } of [
    { what: "a rule without duration at once", looks: [0], fires: [0] },
    { what: "nothing that does not hold", looks: [low(0), low(5)], fires: [] },
    { what: "nothing of what is not known", looks: [unknown(0), unknown(5)], fires: [] },
    {
      what: "a rule with a duration when the condition has held for it",
      changes: { condition_duration: 30 },
      looks: every5s(0, 60),
      fires: [30],
    },
    {
      what: "nothing when the condition was interrupted",
      changes: { condition_duration: 30 },
      looks: [...every5s(0, 25), low(30), ...every5s(35, 60)],
      fires: [],
    },
    {
      what: "a rule whose value was unknown for a moment",
      changes: { condition_duration: 30 },
      looks: [...every5s(0, 10), unknown(15), unknown(20), ...every5s(25, 40)],
      fires: [30],
    },
    {
      what: "nothing early when the value was unknown for more than a minute",
      changes: { condition_duration: 100 },
      looks: [...every5s(0, 20), ...every5s(90, 150)],
      fires: [],
    },
    {
      what: "again when the cooldown ends and the condition still holds",
      changes: { cooldown_seconds: 60 },
      looks: every5s(0, 130),
      fires: [0, 60, 120],
    },
    {
      what: "again at the end of the cooldown, with a duration too",
      changes: { condition_duration: 30, cooldown_seconds: 60 },
      looks: every5s(0, 160),
      fires: [30, 90, 150],
    },
    {
      what: "not within the cooldown, however often the condition starts again",
      changes: { cooldown_seconds: 60 },
      looks: [0, low(5), 10, low(15), 20, 59, 60],
      fires: [0, 60],
    },
    {
      what: "at every look without a cooldown, five times",
      changes: { cooldown_seconds: 0 },
      looks: every5s(0, 60),
      fires: [0, 5, 10, 15, 20],
    },
    {
      what: "for ever with the default cooldown, of which four fit into an hour",
      looks: every5s(0, 7200),
      fires: [0, 900, 1800, 2700, 3600, 4500, 5400, 6300, 7200],
    },
    {
      what: "five times in an hour and not a sixth time",
      changes: { cooldown_seconds: 700 },
      looks: every5s(0, 3500),
      fires: [0, 700, 1400, 2100, 2800],
    },
    {
      what: "a rule that has fired far in the future, as the clock was wrong",
      changes: { last_triggered_at: at(100_000) },
      looks: [0],
      fires: [0],
    },
    {
      what: "nothing early that began in the future, as the clock was set back",
      changes: { condition_duration: 30, pending_since: at(500), seen_at: at(500) },
      looks: [0, 25],
      fires: [],
    },
    {
      what: "what was pending before a short restart",
      changes: { condition_duration: 30, pending_since: at(-30), seen_at: at(-20) },
      looks: [0],
      fires: [0],
    },
    {
      what: "nothing early that was pending before a long absence",
      changes: { condition_duration: 30, pending_since: at(-300), seen_at: at(-200) },
      looks: [0],
      fires: [],
    },
  ]
) {
  Deno.test(`remediation fires ${what}`, () => {
    deepEqual(firingsOf(changes, looks as Parameters<typeof firingsOf>[1]), fires);
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
  Deno.test(`a remediation condition compares with ${operator}`, () => {
    const compared = [89.9, 90, 90.1].map((value) =>
      decide({ ...rule, condition_operator: operator }, value, new Date(START)).fires
    );
    deepEqual(compared, values);
  });
}

Deno.test("a firing is remembered for an hour, then forgotten", () => {
  const firings = [at(-3600), at(-3599), at(-10)];
  const { progress } = decide({ ...rule, firings }, 95, new Date(START));
  deepEqual(progress, {
    pending_since: at(0),
    seen_at: at(0),
    last_triggered_at: at(0),
    firings: [at(-3599), at(-10), at(0)],
  });
});

Deno.test("a rule fires too often with five times within an hour", () => {
  const four = [at(-3000), at(-2000), at(-1000), at(0)];
  const now = new Date(START);
  equal(firesTooOften({ firings: four }, now), false);
  equal(firesTooOften({ firings: [at(-3600), ...four] }, now), false);
  equal(firesTooOften({ firings: [at(-3599), ...four] }, now), true);
});

Deno.test("a condition that holds on is not written down at every look", () => {
  const pending = { ...rule, condition_duration: 60, pending_since: at(0), seen_at: at(0) };
  const after = (second: number) => decide(pending, 95, new Date(START + second * 1000)).progress;
  deepEqual([after(5).seen_at, after(14).seen_at, after(15).seen_at], [at(0), at(0), at(15)]);
});

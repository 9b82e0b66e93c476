import { deepEqual, equal } from "node:assert/strict";
import {
  type ConditionState,
  COOLDOWN_MS,
  type Effect,
  GAP_MAX_MS,
  INITIAL_STATE,
  type Input,
  isIdle,
  next,
} from "../../../services/alerts/condition.ts";

const START = Date.parse("2026-01-01T12:00:00Z");
const at = (second: number) => new Date(START + second * 1000);

type Rule = Parameters<typeof next>[0];
const RULE: Rule = {
  operator: ">",
  threshold: 90,
  durationSeconds: 15,
  forMissingDataSeconds: 60,
};

const COOLDOWN_S = COOLDOWN_MS / 1000;
const GAP_S = GAP_MAX_MS / 1000;

/** Values 95 (the condition holds), 10 and `none`; `unknown`; a removed or skipped container. */
const INPUTS: Record<string, Input> = {
  high: { type: "value", value: 95, isPaused: false },
  low: { type: "value", value: 10, isPaused: false },
  none: { type: "value", value: null, isPaused: false },
  unknown: { type: "value", value: undefined, isPaused: false },
  "high, paused": { type: "value", value: 95, isPaused: true },
  "low, paused": { type: "value", value: 10, isPaused: true },
  "unknown, paused": { type: "value", value: undefined, isPaused: true },
  skipped: { type: "skipped" },
  gone: { type: "gone", isPaused: false },
  "gone, paused": { type: "gone", isPaused: true },
};

type State = ConditionState["progress"]["state"];
type Row = [second: number, input: string, state: State, effect?: Effect];

/** Takes a condition through the rows; a firing has the alert `a1`. */
function play(rows: readonly Row[], rule: Rule) {
  let state = INITIAL_STATE;
  const results = rows.map(([second, input]) => {
    const step = next(rule, state, INPUTS[input]!, at(second));
    state = step.state;
    if (step.effects.includes("fired")) {
      state = { ...state, progress: { ...state.progress, alertId: "a1" } };
    }
    return [second, input, state.progress.state, ...step.effects];
  });
  return { results, state };
}

for (
  const { what, rows, rule } of [
    {
      what: "ok, pending, firing, ok",
      rows: [
        [0, "low", "ok"],
        [5, "high", "pending", "store"],
        [10, "high", "pending"],
        [20, "high", "firing", "fired"],
        [25, "high", "firing"],
        [30, "low", "ok", "resolved"],
      ],
    },
    {
      what: "a condition that stops to hold in time is ok again",
      rows: [[0, "high", "pending", "store"], [5, "none", "ok", "store"]],
    },
    {
      what: "the cooldown keeps it pending",
      rule: { durationSeconds: 0 },
      rows: [
        [0, "high", "firing", "fired"],
        [5, "low", "ok", "resolved"],
        [10, "high", "pending", "store"],
        // Not checked in the meantime, so that the duration starts again.
        [COOLDOWN_S - 1, "high", "pending", "store"],
        [COOLDOWN_S, "high", "firing", "fired"],
      ],
    },
    {
      what: "maintenance keeps it pending, or firing",
      rule: { durationSeconds: 0 },
      rows: [
        [0, "high, paused", "pending", "store"],
        [5, "high", "firing", "fired"],
        [10, "low, paused", "firing"],
        [15, "low", "ok", "resolved"],
      ],
    },
    {
      what: "an unknown value is reported once, and the next value ends that",
      rows: [
        [0, "unknown", "ok"],
        [59, "unknown", "ok"],
        [60, "unknown", "no_data", "no_data"],
        [65, "unknown", "no_data"],
        [70, "low", "ok", "store"],
        [75, "unknown", "ok"],
        [134, "unknown", "ok"],
        [135, "unknown", "no_data", "no_data"],
      ],
    },
    {
      what: "an unknown value is not reported during maintenance, but afterwards",
      rows: [
        [0, "unknown, paused", "ok"],
        [90, "unknown, paused", "ok"],
        [95, "unknown", "no_data", "no_data"],
      ],
    },
    {
      what: "an unknown value is not reported by a rule without that setting",
      rule: { forMissingDataSeconds: null },
      rows: [[0, "unknown", "ok"], [9_000, "unknown", "ok"]],
    },
    {
      what: "an alert stays open while its value is unknown",
      rule: { durationSeconds: 0 },
      rows: [
        [0, "high", "firing", "fired"],
        [5, "unknown", "firing"],
        [65, "unknown", "no_data", "no_data"],
        [70, "high", "firing", "store"],
        [75, "unknown", "firing"],
        [135, "unknown", "no_data", "no_data"],
        [140, "low", "ok", "resolved"],
      ],
    },
    {
      what: "a pending condition that cannot be evaluated is stored once, and again when it can",
      rows: [
        [0, "high", "pending", "store"],
        [5, "skipped", "pending", "store"],
        [10, "skipped", "pending"],
        [12, "unknown", "pending"],
        [14, "high", "pending", "store"],
        [15, "high", "firing", "fired"],
      ],
    },
    {
      what: "a skipped condition that is not pending does not change",
      rows: [[0, "skipped", "ok"]],
    },
    {
      what: "a container that is replaced stays firing",
      rule: { durationSeconds: 0 },
      rows: [
        [0, "high", "firing", "fired"],
        [5, "gone", "firing"],
        [5 + GAP_S - 1, "gone", "firing"],
        [5 + GAP_S, "high", "firing"],
      ],
    },
    {
      what: "the alert of a container that was removed is resolved",
      rule: { durationSeconds: 0 },
      rows: [
        [0, "high", "firing", "fired"],
        [5, "gone", "firing"],
        [5 + GAP_S, "gone", "ok", "resolved"],
      ],
    },
    {
      what: "during maintenance it stays open, and has a minute to be back afterwards",
      rule: { durationSeconds: 0 },
      rows: [
        [0, "high", "firing", "fired"],
        [5, "gone", "firing"],
        [5 + GAP_S, "gone, paused", "firing"],
        [10 + GAP_S, "gone", "firing"],
        [10 + 2 * GAP_S, "gone", "ok", "resolved"],
      ],
    },
  ] as { what: string; rows: Row[]; rule?: Partial<Rule> }[]
) {
  Deno.test(`next(): ${what}`, () => deepEqual(play(rows, { ...RULE, ...rule }).results, rows));
}

Deno.test("next() forgets a container that is gone once its cooldown has passed", () => {
  const rule = { ...RULE, durationSeconds: 0 };
  const rows: Row[] = [[0, "high", "firing", "fired"], [5, "low", "ok", "resolved"]];
  const { state } = play(rows, rule);
  const gone = (second: number) => next(rule, state, INPUTS.gone!, at(second)).state;
  equal(gone(COOLDOWN_S - 1).progress.lastFiredAt, at(0).toISOString());
  equal(gone(COOLDOWN_S), INITIAL_STATE);
});

Deno.test("next() returns the same state if nothing changes", () => {
  for (const input of ["low", "none", "skipped", "gone", "low, paused"]) {
    equal(next(RULE, INITIAL_STATE, INPUTS[input]!, at(0)).state, INITIAL_STATE, input);
  }
  const { state } = play([[0, "high", "pending", "store"]], RULE);
  equal(next(RULE, state, INPUTS.high!, at(5)).state, state);
});

for (
  const [value, forMissingDataSeconds, expected] of [
    [10, 60, true],
    [null, 60, true],
    [95, 60, false],
    [undefined, 60, false],
    [undefined, null, true],
  ] as const
) {
  Deno.test(`isIdle(): ${value}, data may be missing for ${forMissingDataSeconds} s`, () => {
    const rule = { ...RULE, forMissingDataSeconds };
    equal(isIdle(rule, value), expected);
    if (!expected) return;
    const input: Input = { type: "value", value, isPaused: false };
    const { state, effects } = next(rule, INITIAL_STATE, input, at(0));
    deepEqual([state.progress, effects], [INITIAL_STATE.progress, []]);
  });
}

import { deepEqual, equal } from "node:assert/strict";
import type { ContainerState } from "../../../../engine/containers.ts";
import { createRun, isAfterRun } from "../../../../services/logs/follow/run.ts";

const NEVER = "0001-01-01T00:00:00Z";

/** A second of one minute, or never. */
const at = (second: number | null) =>
  second === null ? NEVER : `2026-01-01T00:00:${String(second).padStart(2, "0")}.5Z`;

type State = [startedAt: number | null, finishedAt: number | null];

const stateOf = ([startedAt, finishedAt]: State) =>
  ({ StartedAt: at(startedAt), FinishedAt: at(finishedAt) }) as ContainerState;

for (
  const { what, states, ends } of [
    { what: "a run that goes on", states: [[1, null], [1, null]], ends: ["same"] },
    { what: "a run that ended", states: [[1, null], [1, 2]], ends: ["same"] },
    { what: "the first start", states: [[null, null], [1, null]], ends: ["next"] },
    { what: "a restart", states: [[1, null], [3, 2]], ends: [2] },
    { what: "two restarts, one unseen", states: [[1, null], [5, 4]], ends: [4] },
    { what: "a next run that ended, too", states: [[1, 2], [1, 2], [3, 4]], ends: ["same", 2] },
    { what: "a next run that ended, of an unseen end", states: [[1, null], [3, 4]], ends: [3] },
    { what: "each of two restarts", states: [[1, null], [3, 2], [5, 4]], ends: [2, 4] },
  ] as { what: string; states: [State, ...State[]]; ends: unknown[] }[]
) {
  Deno.test(`createRun() knows the end before ${what}`, () => {
    const [first, ...others] = states;
    const run = createRun(stateOf(first));
    const found = others.map((state) => {
      const { isNext, end } = run.update(stateOf(state));
      return end
        ? end.seconds - Date.parse("2026-01-01T00:00:00Z") / 1000
        : isNext
        ? "next"
        : "same";
    });
    deepEqual(found, ends);
  });
}

for (
  const [timestamp, nanos, expected] of [
    ["2026-01-01T00:00:01.500000000Z", 500_000_000, false],
    ["2026-01-01T00:00:01.500000001Z", 500_000_001, true],
    ["2026-01-01T00:00:01Z", 0, true],
  ] as const
) {
  Deno.test(`isAfterRun(): a line of ${timestamp} is ${expected ? "" : "not "}after 1.5 s`, () => {
    const position = { stream: "stdout", seconds: 1, nanos, ordinal: 1 } as const;
    equal(isAfterRun({ timestamp, position }, { seconds: 1, nanos: 500_000_000 }), expected);
  });
}

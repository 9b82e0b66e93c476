import { equal } from "node:assert/strict";
import {
  hasNewMinute,
  msUntilNextRound,
} from "../../../../services/automation/schedules/runner.ts";

for (
  const [now, ms] of [
    ["12:00:00.000", 15_000],
    ["12:00:44.999", 15_000],
    ["12:00:45.000", 15_000],
    ["12:00:46.000", 14_000],
    ["12:00:59.999", 1],
  ] as const
) {
  Deno.test(`at ${now} the runner sleeps for ${ms} ms`, () => {
    equal(msUntilNextRound(new Date(`2026-01-01T${now}Z`)), ms);
  });
}

for (
  const [since, until, isNew] of [
    ["11:59:59.999", "12:00:00.000", true],
    ["12:00:00.000", "12:00:59.999", false],
    ["12:00:30.000", "12:05:10.000", true],
    ["12:00:10.000", "11:59:50.000", false],
  ] as const
) {
  Deno.test(`between ${since} and ${until} ${isNew ? "a" : "no"} minute begins`, () => {
    equal(
      hasNewMinute(new Date(`2026-01-01T${since}Z`), new Date(`2026-01-01T${until}Z`)),
      isNew,
    );
  });
}

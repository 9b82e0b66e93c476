/** An alert across crashes of the program fires in time, and once. @module */

import { deepEqual, equal, ok } from "node:assert/strict";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore, wholeRound } from "../helpers/longshore.ts";
import { until } from "../helpers/until.ts";
import { isInTime } from "../helpers/in_time.ts";

const DURATION_MS = 10_000;

/** Requirement: an alert fires within this after the duration of its rule, in milliseconds. */
const FIRES_WITHIN_MS = 15_000;

long(Deno.test)(
  "an alert fires in time and once, though the program is killed in between",
  async () => {
    const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-alerts-" });
    try {
      let begun: number;
      let killed: number;
      {
        await using program = await startLongshore({ dataDir });
        begun = Date.now();
        // Its condition always holds.
        const created = await program.call("POST", "/api/alerts/rules", {
          name: "Busy",
          metric: "cpu_percent",
          operator: ">=",
          threshold: 0,
          durationSeconds: DURATION_MS / 1000,
        });
        equal(created.status, 201);
        await until("the rule is pending", async () => await stateOf(program) !== "ok");
        await program.kill9();
        killed = Date.now();
      }
      let first: { id: string; firedAt: string };
      {
        await using program = await startLongshore({ dataDir });
        const awayMs = Date.now() - killed;
        first = await until("the alert fires", async () => (await eventsOf(program))[0]);
        const ms = Date.parse(first.firedAt) - begun;
        // The time during which the program was down does not count.
        const lateMs = ms - awayMs - DURATION_MS;
        ok(ms >= DURATION_MS && isInTime(lateMs, FIRES_WITHIN_MS), `fired after ${ms} ms`);
        await until("it is shown", async () => await stateOf(program) === "firing");
        await program.kill9();
      }
      await using program = await startLongshore({ dataDir });
      await wholeRound(program, "alert evaluator");
      equal(await stateOf(program), "firing");
      deepEqual(await eventsOf(program), [first]);
    } finally {
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

async function stateOf(program: Longshore): Promise<string> {
  return (await program.call("GET", "/api/alerts/rules")).body.rules[0].state;
}

async function eventsOf(program: Longshore) {
  return (await program.call("GET", "/api/alerts/events")).body.events;
}

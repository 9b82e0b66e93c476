/**
 * Many schedules that are due at the same time, by the real clock and on a real engine, and a crash
 * of the program in the middle of a run.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { startLongshore } from "../helpers/longshore.ts";
import { engineTest, type TestContainer } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";
import { isInTime } from "../helpers/in_time.ts";

const SCHEDULES = 50;

/** Requirement: all that are due in the same minute run within this, in milliseconds. */
const RUN_WITHIN_MS = 5_000;

/** Containers that are made at the same time. */
const BATCH = 10;

interface Run {
  containerId: string;
  startedAt: string;
  finishedAt: string;
  status: string;
  error: string | null;
}

engineTest("50 schedules of the same minute run in time and once, across a crash", async (real) => {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-schedules-" });
  const containers: TestContainer[] = [];
  const begun = performance.now();
  try {
    // One that does not stop by itself: its run is under way when the program is killed.
    containers.push(
      await real.runContainer({
        command: ["sleep", "2147483647"],
        options: ["--stop-timeout=600"],
      }),
    );
    while (containers.length < SCHEDULES) {
      const count = Math.min(BATCH, SCHEDULES - containers.length);
      containers.push(
        ...await Promise.all(Array.from({ length: count }, () => real.runContainer())),
      );
    }
    const options = { dataDir, engineSocket: real.socketPath };
    // The schedules are stored before they are due, also on a machine that took long so far.
    const dueAt = nextMinute(30_000 + performance.now() - begun);
    {
      await using program = await startLongshore(options);
      await Promise.all(containers.map(async ({ id, name }) => {
        const { status } = await program.call("POST", "/api/schedules", {
          name,
          containerId: id,
          containerName: name,
          action: "stop",
          cronExpression: `${dueAt.getUTCMinutes()} ${dueAt.getUTCHours()} * * *`,
          timezone: "UTC",
        });
        equal(status, 201);
      }));
      const { schedules } = (await program.call("GET", "/api/schedules")).body;
      deepEqual(
        new Set(schedules.map(({ nextRunAt }: { nextRunAt: string }) => nextRunAt)),
        new Set([dueAt.toISOString()]),
      );
      await until("the fast ones have stopped", async () => {
        const { history } = (await program.call("GET", "/api/schedules/history")).body;
        return history.length >= SCHEDULES - 1;
      }, { deadlineMs: 600_000 });
      await program.kill9();
    }
    await using program = await startLongshore(options);
    const history = await until("all runs have ended", async () => {
      const { history } = (await program.call("GET", "/api/schedules/history")).body;
      return history.length >= SCHEDULES && history as Run[];
    });

    equal(history.length, SCHEDULES);
    equal(new Set(history.map(({ containerId }) => containerId)).size, SCHEDULES);
    const late = history.map(({ startedAt }) => Date.parse(startedAt) - dueAt.getTime());
    ok(Math.min(...late) >= 0 && isInTime(Math.max(...late), RUN_WITHIN_MS), `late by ${late} ms`);
    for (const { containerId, status, error } of history) {
      if (status === "success") {
        const { body } = await program.call("GET", `/api/containers/${containerId}`);
        equal(body.state, "exited");
      } else deepEqual([status, error], ["failure", "The service stopped before the run finished"]);
    }
    const slow = history.find(({ containerId }) => containerId === containers[0]!.id);
    equal(slow?.status, "failure");
    const succeeded = history.filter(({ status }) => status === "success");
    ok(succeeded.length > 0, "no run ended before the crash");
  } finally {
    await Promise.all(containers.map((container) => container[Symbol.asyncDispose]()));
    await Deno.remove(dataDir, { recursive: true });
  }
});

/** The next full minute that is at least so far away. */
function nextMinute(leastMs: number): Date {
  return new Date(Math.ceil((Date.now() + leastMs) / 60_000) * 60_000);
}

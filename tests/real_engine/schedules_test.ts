/**
 * Schedules that are due at the same time, by the real clock and on a real engine, and a crash of the
 * program in the middle of a run.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { startEngineProxy } from "../helpers/engine_proxy.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const SCHEDULES = 10;

interface Run {
  containerId: string;
  startedAt: string;
  status: string;
  error: string | null;
}

const readRuns = async (program: Longshore): Promise<Run[]> =>
  (await program.call("GET", "/api/schedules/history")).body.history;

long(engineTest)("schedules of the same minute run once, also across a crash", async (real) => {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-schedules-" });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(dataDir, { recursive: true }));
  await using proxy = startEngineProxy(real.socketPath, dataDir);
  const containers = await Promise.all(
    Array.from({ length: SCHEDULES }, async () => stack.use(await real.runContainer())),
  );
  // The engine never gets this one: its run is under way when the program is killed.
  const [{ id: slow }] = containers as [typeof containers[0]];
  const end = Promise.withResolvers<void>();
  proxy.observe(async ({ path }) => {
    if (path !== `/containers/${slow}/stop`) return;
    await end.promise;
    throw new Error("connection lost");
  });
  stack.defer(end.resolve);
  const options = { dataDir, engineSocket: proxy.socketPath };
  {
    const begun = performance.now();
    await using program = await startLongshore(options);
    // The schedules are stored before they are due, also on a machine that took long to start.
    const dueAt = nextMinute(5_000 + 2 * (performance.now() - begun));
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
    const runs = await until("the others have stopped", async () => {
      const runs = await readRuns(program);
      return runs.length === SCHEDULES - 1 && runs;
    }, { deadlineMs: 600_000 });
    ok(runs.every(({ startedAt }) => Date.parse(startedAt) >= dueAt.getTime()));
    await program.kill9();
  }
  await using program = await startLongshore(options);
  const runs = await until("all runs have ended", async () => {
    const runs = await readRuns(program);
    return runs.length >= SCHEDULES && runs;
  });

  deepEqual(
    runs.map(({ containerId }) => containerId).sort(),
    containers.map(({ id }) => id).sort(),
  );
  for (const { containerId, status, error } of runs) {
    const expected = containerId === slow
      ? ["failure", "The service stopped before the run finished"]
      : ["success", null];
    deepEqual([status, error], expected);
    const state = await real.docker("inspect", "--format={{.State.Status}}", containerId);
    equal(state, containerId === slow ? "running" : "exited");
  }
});

/** The next full minute that is at least so far away. */
function nextMinute(leastMs: number): Date {
  return new Date(Math.ceil((Date.now() + leastMs) / 60_000) * 60_000);
}

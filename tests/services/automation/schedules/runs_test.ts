import { deepEqual, equal, match } from "node:assert/strict";
import { insertScheduleRun, updateScheduleRunEnd } from "../../../../db/schedule_runs.ts";
import { insertSchedule, type Schedule, selectSchedule } from "../../../../db/schedules.ts";
import {
  createRunStarter,
  listScheduleRuns,
  recoverRuns,
  type RunStarter,
  sweepScheduleRuns,
} from "../../../../services/automation/schedules/runs.ts";
import { listAudit } from "../../../../services/access/audit/audit.ts";
import { scheduleRunner } from "../../../../services/automation/schedules/runner.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine } from "../../../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const NOON = "2026-01-01T12:00:00Z";

function schedule(app: Pick<TestApp, "deps">, fields: Partial<Schedule> = {}): Schedule {
  const stored: Schedule = {
    id: crypto.randomUUID(),
    name: "nightly",
    containerId: idOf("web"),
    containerName: "web",
    kind: "container",
    action: "restart",
    stack: null,
    options: {},
    cronExpression: "* * * * *",
    timezone: "UTC",
    enabled: true,
    createdAt: "2026-01-01T00:00:00.000Z",
    activeSince: "2026-01-01T00:00:00.000Z",
    lastRunAt: null,
    overdueSince: null,
    ...fields,
  };
  insertSchedule(app.deps.db, stored);
  return stored;
}

const history = (app: Pick<TestApp, "deps">) =>
  listScheduleRuns(app.deps, { limit: 500, offset: 0 }).history;

/** Events of failed runs that were told. */
function collectFailures(app: TestApp): unknown[] {
  const seen: unknown[] = [];
  app.deps.events.publish = ({ event, data }) => {
    if (event === "schedule.failed") seen.push(data);
  };
  return seen;
}

const acts = ({ requests }: FakeEngine) => requests.filter((request) => request.startsWith("POST"));

/** Lets the clock stand at `time` and runs what fell due in the minute before. */
async function runMinute(app: TestApp, runs: RunStarter, time: string): Promise<void> {
  app.clock.set(time);
  runs.startDue(new Date(Date.parse(time) - 60_000), app.deps.now());
  await runs.idle();
}

Deno.test("a schedule that is due acts on its container and leaves a run", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  const { id } = schedule(app);

  await runMinute(app, createRunStarter(app.deps), NOON);

  deepEqual(acts(fake), [`POST /containers/${idOf("web")}/restart?t=10`]);
  deepEqual(app.deps.changes.counts, { "/api/schedules": 2 }, "at the start and at the end");
  const [run, ...others] = history(app);
  deepEqual(others, []);
  const { id: _, ...shown } = run!;
  deepEqual(shown, {
    scheduleId: id,
    scheduleName: "nightly",
    kind: "container",
    action: "restart",
    containerId: idOf("web"),
    containerName: "web",
    stack: null,
    subject: "web",
    jobId: null,
    startedAt: "2026-01-01T12:00:00.000Z",
    finishedAt: "2026-01-01T12:00:00.000Z",
    status: "success",
    error: null,
  });
  equal(selectSchedule(app.deps.db, id)?.lastRunAt, "2026-01-01T12:00:00.000Z");
  const [entry] = listAudit(app.deps, { limit: 1, offset: 0 }).entries;
  deepEqual(
    [entry!.actor, entry!.role, entry!.action, entry!.targets, entry!.outcome],
    ["schedule", "system", "schedule restart", ["web", idOf("web"), "nightly"], "success"],
  );
});

for (
  const { what, cronExpression, timezone = "UTC", since, until, runs } of [
    {
      what: "after the round's beginning",
      cronExpression: "0 12 * * *",
      since: "11:59:50",
      until: "12:00:05",
      runs: 1,
    },
    {
      what: "at the round's end",
      cronExpression: "0 12 * * *",
      since: "11:59:45",
      until: "12:00:00",
      runs: 1,
    },
    {
      what: "at the round's beginning, which the last round did",
      cronExpression: "0 12 * * *",
      since: "12:00:00",
      until: "12:00:15",
      runs: 0,
    },
    {
      what: "after the round's end",
      cronExpression: "0 12 * * *",
      since: "11:59:30",
      until: "11:59:59.999",
      runs: 0,
    },
    {
      what: "in another time zone",
      cronExpression: "0 13 * * *",
      timezone: "Europe/Berlin",
      since: "11:59:50",
      until: "12:00:05",
      runs: 1,
    },
    {
      what: "twice in one round, as one run",
      cronExpression: "* * * * *",
      since: "11:59:01",
      until: "12:00:01",
      runs: 1,
    },
    {
      what: "long before the end of a round that was held up",
      cronExpression: "0 12 * * *",
      since: "11:59:50",
      until: "12:01:01",
      runs: 0,
    },
  ]
) {
  Deno.test(`what falls due ${what} runs ${runs} times`, async () => {
    await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
    using app = testApp({ engine: fake.engine });
    schedule(app, { cronExpression, timezone });
    const starter = createRunStarter(app.deps);
    starter.startDue(new Date(`2026-01-01T${since}Z`), new Date(`2026-01-01T${until}Z`));
    await starter.idle();
    equal(history(app).length, runs);
  });
}

Deno.test("a disabled schedule does not run", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  schedule(app, { enabled: false });
  await runMinute(app, createRunStarter(app.deps), NOON);
  deepEqual([history(app), fake.requests], [[], []]);
});

Deno.test("50 schedules that are due at the same time begin at once and run once", async () => {
  const containers = Array.from({ length: 50 }, (_, n): SimulatedContainer => ({ name: `c${n}` }));
  const answers = simulateContainers(containers);
  const restart = answers["POST /containers/*/restart"]!;
  const everyoneIsHere = Promise.withResolvers<void>();
  let arrived = 0;
  // No request is answered before all have arrived, so they must be sent in parallel.
  answers["POST /containers/*/restart"] = async (request) => {
    if (++arrived === containers.length) everyoneIsHere.resolve();
    await everyoneIsHere.promise;
    return restart(request);
  };
  await using fake = fakeEngine(answers);
  using app = testApp({ engine: fake.engine });
  for (const { name } of containers) {
    schedule(app, {
      name,
      containerId: idOf(name),
      containerName: name,
      cronExpression: "0 12 * * *",
    });
  }
  const runs = createRunStarter(app.deps);
  // The same minute again, as after a clock that was set back.
  await runMinute(app, runs, NOON);
  await runMinute(app, runs, NOON);

  equal(acts(fake).length, 50);
  equal(new Set(acts(fake)).size, 50);
  deepEqual(new Set(history(app).map(({ status }) => status)), new Set(["success"]));
  equal(history(app).length, 50);
});

Deno.test("a schedule that is due while its last run is active is skipped", async () => {
  const answers = simulateContainers([{ name: "web" }]);
  const restart = answers["POST /containers/*/restart"]!;
  const released = Promise.withResolvers<void>();
  answers["POST /containers/*/restart"] = async (request) => {
    await released.promise;
    return restart(request);
  };
  await using fake = fakeEngine(answers);
  using app = testApp({ engine: fake.engine });
  const { id } = schedule(app);
  const runs = createRunStarter(app.deps);

  app.clock.set("2026-01-01T12:00:00Z");
  runs.startDue(new Date("2026-01-01T11:59:59Z"), app.deps.now());
  app.clock.set("2026-01-01T12:01:00Z");
  runs.startDue(new Date("2026-01-01T12:00:00Z"), app.deps.now());
  deepEqual(history(app).map(({ status, error }) => [status, error]), [
    ["skipped", "The previous run is still in progress"],
  ]);
  released.resolve();
  await runs.idle();

  deepEqual(
    history(app).map(({ startedAt, status }) => [startedAt, status]),
    [["2026-01-01T12:01:00.000Z", "skipped"], ["2026-01-01T12:00:00.000Z", "success"]],
  );
  equal(selectSchedule(app.deps.db, id)?.lastRunAt, "2026-01-01T12:00:00.000Z");
  equal(acts(fake).length, 1);
});

Deno.test("a container that was recreated is found by its name", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  schedule(app, { containerId: "f".repeat(64) });
  await runMinute(app, createRunStarter(app.deps), NOON);
  deepEqual(
    history(app).map(({ status, containerId }) => [status, containerId]),
    [["success", idOf("web")]],
  );
});

Deno.test("a container that is gone is a failed run, also where its name begins another's id", async () => {
  // The id of "other" begins with 6f7468, so that a schedule on "6f74" would hit it.
  await using fake = fakeEngine(simulateContainers([{ name: "other" }]));
  using app = testApp({ engine: fake.engine });
  const failures = collectFailures(app);
  const { id } = schedule(app, { containerId: "f".repeat(64), containerName: "6f74" });
  await runMinute(app, createRunStarter(app.deps), NOON);
  const error = "Container 6f74 no longer exists";
  deepEqual(history(app).map(({ status, error }) => [status, error]), [["failure", error]]);
  deepEqual(failures, [
    {
      schedule: "nightly",
      scheduleId: id,
      kind: "container",
      action: "restart",
      subject: "6f74",
      container: "6f74",
      error,
    },
  ]);
  deepEqual(acts(fake), []);
});

Deno.test("an unreachable engine is a failed run without a retry", async () => {
  using app = testApp();
  const failures = collectFailures(app);
  schedule(app);
  await runMinute(app, createRunStarter(app.deps), NOON);
  const [run] = history(app);
  equal(run?.status, "failure");
  match(run?.error ?? "", /engine/);
  equal(failures.length, 1);
});

Deno.test("the engine's message is the error of a run that cannot start a container", async () => {
  const answers = simulateContainers([{ name: "web", state: "exited" }]);
  answers["POST /containers/*/start"] = () =>
    Response.json({ message: "port is already allocated" }, { status: 500 });
  await using fake = fakeEngine(answers);
  using app = testApp({ engine: fake.engine });
  schedule(app, { action: "start" });
  await runMinute(app, createRunStarter(app.deps), NOON);
  deepEqual(history(app).map(({ status, error }) => [status, error]), [
    ["failure", "port is already allocated"],
  ]);
});

for (const action of ["stop", "restart"] as const) {
  Deno.test(`a run that would ${action} the service's own container fails`, async () => {
    await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
    using app = testApp({ engine: fake.engine, self: { id: idOf("web"), hostname: null } });
    schedule(app, { action });
    await runMinute(app, createRunStarter(app.deps), NOON);
    const [run] = history(app);
    equal(run?.status, "failure");
    match(run?.error ?? "", /the service's own container/);
    deepEqual(acts(fake), []);
  });
}

Deno.test("a run interrupted by a stop of the service is a failure after the restart", () => {
  using app = testApp({ now: "2026-01-01T12:03:00Z" });
  const failures = collectFailures(app);
  insertScheduleRun(app.deps.db, {
    id: "run",
    scheduleId: "schedule",
    scheduleName: "nightly",
    containerId: idOf("web"),
    containerName: "web",
    kind: "container",
    stack: null,
    subject: "web",
    jobId: null,
    action: "stop",
    dueAt: "2026-01-01T12:00:00.000Z",
    startedAt: "2026-01-01T12:00:00.002Z",
  });
  deepEqual(history(app), []);
  recoverRuns(app.deps);
  recoverRuns(app.deps);
  deepEqual(
    history(app).map(({ startedAt, finishedAt, status, error }) => [
      startedAt,
      finishedAt,
      status,
      error,
    ]),
    [[
      "2026-01-01T12:00:00.002Z",
      "2026-01-01T12:03:00.000Z",
      "failure",
      "The service stopped before the run finished",
    ]],
  );
  equal(failures.length, 1);
});

Deno.test("the history keeps runs for 90 days, and of each schedule the last 1 000", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  const [rare, often] = [
    schedule(app, { name: "rare", cronExpression: "0 12 * * *" }),
    schedule(app, { name: "often" }),
  ];
  const first = Date.parse(NOON);
  await runMinute(app, createRunStarter(app.deps), NOON);
  const run = history(app).find(({ scheduleId }) => scheduleId === often!.id)!;
  // Copies, because a thousand runs take long.
  for (let minute = 1; minute < 1_010; minute++) {
    const id = crypto.randomUUID();
    const startedAt = new Date(first + minute * 60_000).toISOString();
    insertScheduleRun(app.deps.db, { ...run, id, startedAt, dueAt: startedAt });
    updateScheduleRunEnd(app.deps.db, { ...run, id, finishedAt: startedAt });
  }
  const counts = () => {
    const all = listScheduleRuns(app.deps, { limit: 10_000, offset: 0 }).history;
    return [rare, often].map(({ id }) => all.filter((run) => run.scheduleId === id).length);
  };
  deepEqual(counts(), [1, 1_010]);
  sweepScheduleRuns(app.deps);
  deepEqual(counts(), [1, 1_000]);
  equal(history(app).at(0)?.startedAt, new Date(first + 1_009 * 60_000).toISOString());
  app.clock.advance({ days: 91 });
  sweepScheduleRuns(app.deps);
  deepEqual(counts(), [0, 0]);
});

Deno.test("the worker stops during a run without leaving anything behind", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  const end = new AbortController();
  const running = scheduleRunner.run(app.deps, end.signal, () => {});
  end.abort();
  await running;
});

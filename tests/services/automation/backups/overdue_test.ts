import { deepEqual, equal } from "node:assert/strict";
import { insertBackupTarget } from "../../../../db/backup_targets.ts";
import { insertScheduleRun, updateScheduleRunEnd } from "../../../../db/schedule_runs.ts";
import {
  overdueAt,
  reportOverdueBackups,
} from "../../../../services/automation/backups/overdue.ts";
import { recordBackup, recordOwnBackup } from "../../../../services/snapshots/last_backups.ts";
import { backupTarget } from "../../../helpers/backup_target.ts";
import { composeLabels, simulateContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../../../helpers/test_app.ts";

const START = "2026-01-01T12:00:00Z";

for (
  const { what, cronExpression, lastAt, at } of [
    {
      what: "daily, after its own run",
      cronExpression: "0 3 * * *",
      lastAt: "2026-01-05T03:05:00Z",
      at: "2026-01-07T03:05:00.000Z",
    },
    {
      what: "daily, after one by hand",
      cronExpression: "0 3 * * *",
      lastAt: "2026-01-05T14:00:00Z",
      at: "2026-01-07T14:00:00.000Z",
    },
    {
      what: "daily, never",
      cronExpression: "0 3 * * *",
      lastAt: null,
      at: "2026-01-03T12:00:00.000Z",
    },
    {
      what: "on weekdays, after Friday's run",
      cronExpression: "0 3 * * mon-fri",
      lastAt: "2026-01-09T03:05:00Z",
      at: "2026-01-13T03:00:00.000Z",
    },
    {
      what: "hourly, with a backup from before the schedule",
      cronExpression: "0 * * * *",
      lastAt: "2025-12-01T00:00:00Z",
      at: "2026-01-01T14:00:00.000Z",
    },
  ]
) {
  Deno.test(`a backup ${what}, is overdue at ${at}`, () => {
    const schedule = {
      cronExpression,
      timezone: "UTC",
      activeSince: new Date(START).toISOString(),
    };
    equal(overdueAt(schedule, lastAt).at.toISOString(), at);
  });
}

const TARGET = "target-1";

/** An app with the stack shop and a daily schedule, by default of its backup. */
async function scheduled(
  labels: Record<string, string> = {},
  plan: object = { kind: "backup", stack: "shop" },
) {
  const fake = fakeEngine({
    ...simulateContainers([{
      name: "web",
      labels: { ...composeLabels("shop", "web"), ...labels },
      imageId: `sha256:${"a".repeat(64)}`,
      volumes: ["shop_data"],
    }]),
    "GET /images/json": () => Response.json([{ Id: `sha256:${"a".repeat(64)}`, Labels: {} }]),
    "GET /volumes": () => Response.json({ Volumes: [] }),
  });
  const app = testApp({ engine: fake.engine, now: START });
  insertBackupTarget(app.deps.db, backupTarget({ id: TARGET }));
  const { status, body } = await app.call("POST", "/api/schedules", {
    name: "nightly",
    ...plan,
    target: "NAS",
    cronExpression: "0 3 * * *",
    timezone: "UTC",
  });
  equal(status, 201, body.error);
  const events: unknown[] = [];
  app.deps.events.publish = ({ event, data }) => {
    if (event === "backup.overdue") events.push(data);
  };
  return {
    app,
    schedule: body,
    events,
    async at(time: string) {
      app.clock.set(time);
      await reportOverdueBackups(app.deps);
    },
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

/** Records a backup of shop. */
const backUp = (app: TestApp, targetId = TARGET) =>
  recordBackup(
    app.deps,
    {
      input: {
        stack: "shop",
        volumes: null,
        targetId,
        place: "NAS",
        mode: "stop",
        reason: "manual",
        note: null,
        size: null,
        affected: [],
      },
    },
    { snapshot: "40dc1520", size: 1_000 },
  );

Deno.test("a backup of Longshore itself is overdue, too, until it succeeds", async () => {
  await using t = await scheduled({}, { kind: "own-backup" });
  const { app, events, schedule, at } = t;
  await at("2026-01-03T12:00:00Z");
  deepEqual(events, [
    {
      ...{ backup: "Longshore", subject: "longshore" },
      ...{ schedule: "nightly", scheduleId: schedule.id, lastAt: null },
    },
  ]);
  backUp(app);
  await at("2026-01-03T12:01:00Z");
  const overdueSince = async () =>
    (await app.call("GET", `/api/schedules/${schedule.id}`)).body.overdueSince;
  equal(await overdueSince(), "2026-01-03T12:00:00.000Z", "that was another backup");
  recordOwnBackup(app.deps, { targetId: TARGET }, { snapshot: "40dc1520", size: 1_000 });
  await at("2026-01-03T12:02:00Z");
  equal(await overdueSince(), undefined);
});

Deno.test("an overdue backup is one event, until the next success", async () => {
  await using t = await scheduled();
  const { app, events, schedule, at } = t;
  const overdueSince = async () =>
    (await app.call("GET", `/api/schedules/${schedule.id}`)).body.overdueSince;
  const event = (lastAt: string | null) => ({
    backup: "shop",
    subject: "stack shop",
    stack: "shop",
    schedule: "nightly",
    scheduleId: schedule.id,
    lastAt,
  });

  await at("2026-01-03T11:59:00Z");
  deepEqual(events, []);
  await at("2026-01-03T12:00:00Z");
  await at("2026-01-04T12:00:00Z");
  deepEqual(events, [event(null)]);
  equal(await overdueSince(), "2026-01-03T12:00:00.000Z");

  backUp(app);
  await at("2026-01-04T12:01:00Z");
  equal(await overdueSince(), undefined);
  await at("2026-01-06T12:00:00Z");
  deepEqual(events, [event(null), event("2026-01-04T12:00:00.000Z")]);
});

Deno.test("a backup is not overdue while it runs, nor while its schedule is off", async () => {
  await using t = await scheduled();
  const { app, events, schedule: { id }, at } = t;
  const run = {
    id: "run",
    scheduleId: id,
    scheduleName: "nightly",
    kind: "backup",
    action: "backup",
    containerId: null,
    containerName: null,
    stack: "shop",
    subject: "shop",
    jobId: null,
    startedAt: "2026-01-03T03:00:00.000Z",
  };
  insertScheduleRun(app.deps.db, { ...run, dueAt: run.startedAt });
  await at("2026-01-03T12:00:00Z");
  deepEqual(events, []);
  const finishedAt = "2026-01-03T12:00:00.000Z";
  updateScheduleRunEnd(app.deps.db, { ...run, finishedAt, status: "failure", error: "No room" });
  const enable = (enabled: boolean) => app.call("PUT", `/api/schedules/${id}/toggle`, { enabled });
  await enable(false);
  await at("2026-01-09T12:00:00Z");
  await enable(true);
  await at("2026-01-11T11:00:00Z");
  deepEqual(events, []);
  await at("2026-01-11T12:00:00Z");
  equal(events.length, 1);
});

Deno.test("GET /api/backup/stacks?unprotected=true has stacks that nothing backs up", async () => {
  await using t = await scheduled();
  const list = async () =>
    (await t.app.call("GET", "/api/backup/stacks?unprotected=true")).body.stacks
      .map(({ stack }: { stack: string }) => stack);
  deepEqual(await list(), []);
  for (const { id } of (await t.app.call("GET", "/api/schedules")).body.schedules) {
    equal((await t.app.call("PUT", `/api/schedules/${id}`, { enabled: false })).status, 200);
  }
  deepEqual(await list(), ["shop"]);
  backUp(t.app);
  deepEqual(await list(), []);
});

Deno.test("a stack with the label off is not overdue", async () => {
  await using t = await scheduled({ "longshore.backup": "off" });
  await t.at("2026-01-09T12:00:00Z");
  deepEqual(t.events, []);
});

Deno.test("GET /api/backup/stacks tells the last backup of each stack, also to limited tokens", async () => {
  await using t = await scheduled();
  const { app } = t;
  const list = async (stack: string) =>
    (await app.call("GET", "/api/backup/stacks", undefined, { scope: { stacks: [stack] } })).body
      .stacks;
  const shop = { stack: "shop", parts: 1, isExcluded: false, isScheduled: true, mode: null };
  deepEqual(await list("shop"), [{ ...shop, lastBackup: null }]);
  backUp(app);
  deepEqual(await list("shop"), [{
    ...shop,
    lastBackup: {
      at: "2026-01-01T12:00:00.000Z",
      snapshot: "40dc1520",
      target: "NAS",
      size: 1_000,
    },
  }]);
  deepEqual(await list("press"), []);
  for (const mode of ["pause", "live", null]) {
    equal((await app.call("PUT", "/api/backup/stacks/shop/mode", { mode })).status, 200);
    equal((await list("shop"))[0].mode, mode);
  }
  equal((await app.call("PUT", "/api/backup/stacks/press/mode", { mode: "stop" })).status, 404);
  app.clock.set("2026-01-01T13:00:00Z");
  const metrics = await (await app.fetch("GET", "/metrics")).text();
  equal(metrics.includes('longshore_backup_age_seconds{stack="shop"} 3600'), true);
});

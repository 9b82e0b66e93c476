import { deepEqual, equal, match } from "node:assert/strict";
import { insertBackupTarget } from "../../db/backup_targets.ts";
import { insertScheduleRun, updateScheduleRunEnd } from "../../db/schedule_runs.ts";
import { createRunStarter } from "../../services/automation/schedules/runs.ts";
import { backupTarget } from "../helpers/backup_target.ts";
import { idOf, setContainers, simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { appWithRights } from "../helpers/custom_roles.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const nightly = {
  name: "nightly",
  containerId: idOf("web"),
  containerName: "web",
  action: "restart",
  cronExpression: "0 3 * * *",
};

Deno.test("GET /api/schedules/kinds describes the kinds of schedules to viewers", async () => {
  using app = testApp();
  insertBackupTarget(app.deps.db, backupTarget({ name: "NAS" }));
  const { status, body } = await app.call("GET", "/api/schedules/kinds", undefined, {
    role: "viewer",
  });
  equal(status, 200);
  deepEqual(body.kinds[0].actions[0], {
    id: "restart",
    title: "Restart",
    description: "Restarts the container, or starts it",
    permission: "containers:restart",
  });
  deepEqual(body.kinds[0].fields, [
    { name: "containerId", isRequired: true },
    { name: "containerName", isRequired: true },
  ]);
  const values: Record<string, unknown> = {
    containerId: "web",
    containerName: "web",
    stack: "shop",
    target: "NAS",
  };
  for (const { id: kind, actions, fields } of body.kinds) {
    // A backup needs a stack or volumes.
    const names = fields.map(({ name }: { name: string }) => name);
    const given = Object.fromEntries(
      Object.entries(values).filter(([name]) => names.includes(name)),
    );
    for (const { id: action } of actions) {
      const { status, body } = await app.call("POST", "/api/schedules", {
        name: `${kind} ${action}`,
        kind,
        ...given,
        action,
        cronExpression: "0 3 * * *",
        allowMissing: true,
      });
      deepEqual([status, body.error], [201, undefined], `${kind} ${action}`);
      deepEqual([body.kind, body.action], [kind, action]);
    }
  }
});

Deno.test("POST /api/schedules stores an enabled schedule and returns it", async () => {
  using app = testApp({ now: "2026-07-01T12:00:00Z" });

  const created = await app.call("POST", "/api/schedules", {
    ...nightly,
    timezone: "Europe/Berlin",
  });

  equal(created.status, 201);
  deepEqual(created.body, {
    ...nightly,
    kind: "container",
    subject: "web",
    id: created.body.id,
    timezone: "Europe/Berlin",
    enabled: true,
    createdAt: "2026-07-01T12:00:00.000Z",
    lastRunAt: null,
    nextRunAt: "2026-07-02T01:00:00.000Z",
  });
  const listed = await app.call("GET", "/api/schedules", undefined, { role: "viewer" });
  deepEqual([listed.status, listed.body], [200, { schedules: [created.body] }]);
});

Deno.test("a schedule without a time zone has the host's", async () => {
  using app = testApp();
  const { body } = await app.call("POST", "/api/schedules", nightly);
  deepEqual((await app.call("GET", `/api/schedules/${body.id}`)).body, body);
  equal((await app.call("GET", "/api/schedules/unknown")).status, 404);
  equal(body.timezone, Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC");
});

for (
  const [change, error] of [
    [{ name: undefined }, /^body\.name: /],
    [{ name: " " }, /^body\.name: /],
    [{ containerId: undefined }, /^body\.containerId: /],
    [{ containerId: "../info" }, /^body\.containerId: /],
    [{ containerName: "" }, /^body\.containerName: /],
    [{ containerName: "a/b" }, /^body\.containerName: /],
    [{ action: "pause" }, /^body\.action: must be one of restart, start, stop, update/],
    [{ cronExpression: undefined }, /^body\.cronExpression: /],
    [{ cronExpression: 5 }, /^body\.cronExpression: /],
    [
      { cronExpression: "0 25 * * *" },
      /^body\.cronExpression: the hour "25" is not valid; expected 0 to 23/,
    ],
    [{ cronExpression: "0 0 3 * * *" }, /^body\.cronExpression: five fields are expected .* not 6/],
    [{ cronExpression: "@daily" }, /^body\.cronExpression: nicknames are not supported/],
    [{ cronExpression: "1,".repeat(300) }, /^body\.cronExpression: /],
    [{ timezone: "Mars/Olympus" }, /^body\.timezone: Mars\/Olympus is not an IANA time zone$/],
    [{ timezone: "+02:00" }, /^body\.timezone: /],
    [{ timezone: null }, /^body\.timezone: /],
  ] as const
) {
  Deno.test(`POST and PUT /api/schedules refuse ${JSON.stringify(change).slice(0, 60)}`, async () => {
    using app = testApp();
    const refused = await app.call("POST", "/api/schedules", { ...nightly, ...change });
    equal(refused.status, 400);
    match(refused.body.error, error);
    if (Object.values(change)[0] === undefined) return;
    const { body } = await app.call("POST", "/api/schedules", nightly);
    const update = await app.call("PUT", `/api/schedules/${body.id}`, change);
    deepEqual([update.status, update.body.error], [400, refused.body.error]);
  });
}

Deno.test("POST /api/schedules allows 50 schedules on CE and validates the body first", async () => {
  using app = testApp();
  for (let n = 0; n < 50; n++) {
    equal((await app.call("POST", "/api/schedules", nightly)).status, 201);
  }
  const { status, body } = await app.call("POST", "/api/schedules", nightly);
  deepEqual([status, body], [402, {
    error:
      "Edition limit reached (schedules): the Community Edition allows 50; delete one or upgrade",
    current: 50,
    max: 50,
    currentEdition: "ce",
    upgradeUrl: body.upgradeUrl,
  }]);
  const bad = await app.call("POST", "/api/schedules", { ...nightly, cronExpression: "x" });
  equal(bad.status, 400);
  equal((await app.call("GET", "/api/edition")).body.usage.schedules, 50);
});

for (
  const [what, ref] of [
    ["id", { containerId: idOf("own"), containerName: "gone" }],
    ["beginning of the id", { containerId: idOf("own").slice(0, 12), containerName: "gone" }],
    ["name as the id", { containerId: "own", containerName: "gone" }],
    ["name", { containerId: "f".repeat(64), containerName: "own" }],
  ] as const
) {
  for (const isFollowed of [true, false]) {
    const engineState = isFollowed ? "followed" : "asked";
    Deno.test(`the service's own container is refused by its ${what}with the engine ${engineState}`, async () => {
      await using fake = fakeEngine(simulateContainers([{ name: "own" }, { name: "web" }]));
      const self = { id: idOf("own"), hostname: null };
      using app = testApp({ engine: fake.engine, self });
      if (isFollowed) follow(app);
      for (const action of ["stop", "restart"]) {
        const { status, body } = await app.call("POST", "/api/schedules", {
          ...nightly,
          ...ref,
          action,
        });
        equal(status, 403);
        match(body.error, /the service's own container/);
      }
      const start = await app.call("POST", "/api/schedules", {
        ...nightly,
        ...ref,
        action: "start",
      });
      equal(start.status, 201);
      const update = await app.call("PUT", `/api/schedules/${start.body.id}`, { action: "stop" });
      equal(update.status, 403);
    });
  }
}

function follow(app: TestApp) {
  setContainers(app, { name: "own", self: true }, { name: "web" });
}

Deno.test("PUT /api/schedules/:id changes the given fields", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { body: schedule } = await app.call("POST", "/api/schedules", {
    ...nightly,
    timezone: "UTC",
  });
  const changes = { cronExpression: "15 4 * * *", timezone: "europe/berlin", action: "stop" };
  const { status, body } = await app.call("PUT", `/api/schedules/${schedule.id}`, changes);
  deepEqual([status, body], [200, {
    ...schedule,
    ...changes,
    timezone: "Europe/Berlin",
    nextRunAt: "2026-01-02T03:15:00.000Z",
  }]);
  deepEqual((await app.call("GET", "/api/schedules")).body.schedules, [body]);
  const off = await app.call("PUT", `/api/schedules/${schedule.id}`, { enabled: false });
  deepEqual(off.body, { ...body, enabled: false, nextRunAt: null });
});

Deno.test("a disabled schedule has no next run", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { body } = await app.call("POST", "/api/schedules", { ...nightly, timezone: "UTC" });
  const path = `/api/schedules/${body.id}/toggle`;
  deepEqual((await app.call("PUT", path, { enabled: false })).body, {
    ...body,
    enabled: false,
    nextRunAt: null,
  });
  deepEqual((await app.call("PUT", path, { enabled: true })).body, body);
});

Deno.test("DELETE /api/schedules/:id deletes the schedule and keeps its history", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine, now: "2026-01-01T03:00:00Z" });
  const { body: schedule } = await app.call("POST", "/api/schedules", {
    ...nightly,
    timezone: "UTC",
  });
  const runs = createRunStarter(app.deps);
  runs.startDue(new Date("2026-01-01T02:59:59Z"), app.deps.now());
  await runs.idle();

  const { status, body } = await app.call("DELETE", `/api/schedules/${schedule.id}`);
  deepEqual([status, body], [200, { ok: true }]);
  deepEqual((await app.call("GET", "/api/schedules")).body, { schedules: [] });
  const { history } = (await app.call("GET", "/api/schedules/history", undefined, {
    role: "viewer",
  })).body;
  deepEqual(history, [{
    id: history[0].id,
    scheduleId: schedule.id,
    scheduleName: "nightly",
    containerId: idOf("web"),
    containerName: "web",
    kind: "container",
    subject: "web",
    jobId: null,
    action: "restart",
    startedAt: "2026-01-01T03:00:00.000Z",
    finishedAt: "2026-01-01T03:00:00.000Z",
    status: "success",
    error: null,
  }]);
});

Deno.test("a schedule of a container that does not exist is 400 unless allowMissing is true", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }, { name: "db" }]));
  using app = testApp({ engine: fake.engine });
  const missing = { ...nightly, containerId: idOf("gone"), containerName: "gone" };

  const refused = await app.call("POST", "/api/schedules", missing);
  equal(refused.status, 400);
  match(
    refused.body.error,
    /^body\.containerId: Container .*\(gone\) does not exist; use allowMissing/,
  );
  const accepted = await app.call("POST", "/api/schedules", { ...missing, allowMissing: true });
  equal(accepted.status, 201);
  equal("allowMissing" in accepted.body, false);

  // Found by its name, like a recreated container.
  const recreated = { ...nightly, name: "other", containerId: idOf("old") };
  const { status, body } = await app.call("POST", "/api/schedules", recreated);
  equal(status, 201);
  const change = async (change: Record<string, unknown>, id = body.id) =>
    (await app.call("PUT", `/api/schedules/${id}`, change)).status;
  deepEqual(
    [
      await change({ containerId: "gone", containerName: "gone" }),
      await change({ containerId: "gone", containerName: "gone", allowMissing: true }),
      await change({ containerId: "db", containerName: "db" }),
      // Changing another field does not require the container to exist.
      await change({ cronExpression: "0 4 * * *" }, accepted.body.id),
      await change({ ...accepted.body, name: "renamed" }, accepted.body.id),
    ],
    [400, 200, 200, 200, 200],
  );
});

Deno.test("a schedule is accepted while the engine is unreachable", async () => {
  using app = testApp();
  equal((await app.call("POST", "/api/schedules", nightly)).status, 201);
});

Deno.test("GET /api/schedules/history is paged, newest first", async () => {
  using app = testApp();
  for (const n of [1, 2, 3]) {
    const at = `2026-01-01T0${n}:00:00.000Z`;
    const run = { id: `r${n}`, scheduleId: "s", scheduleName: "nightly" };
    const container = { containerId: idOf("web"), containerName: "web", subject: "web" };
    insertScheduleRun(app.deps.db, {
      ...run,
      ...container,
      kind: "container",
      stack: null,
      jobId: null,
      action: "restart",
      startedAt: at,
      dueAt: at,
    });
    if (n === 3) continue;
    updateScheduleRunEnd(app.deps.db, {
      id: run.id,
      ...container,
      finishedAt: at,
      status: "success",
      error: null,
    });
  }
  const { body } = await app.call("GET", "/api/schedules/history?limit=1&offset=1");
  const { history, ...page } = body;
  deepEqual([history.map(({ id }: { id: string }) => id), page], [
    ["r1"],
    { total: 2, limit: 1, offset: 1 },
  ]);
});

Deno.test("GET /api/schedules/history accepts a limit of 1 to 500", async () => {
  using app = testApp();
  for (
    const [query, status] of [
      ["", 200],
      ["?limit=500", 200],
      ["?limit=501", 400],
      ["?limit=0", 400],
      ["?limit=all", 400],
    ] as const
  ) {
    const answer = await app.call("GET", `/api/schedules/history${query}`);
    equal(answer.status, status, query);
  }
});

for (
  const [method, path, body] of [
    ["PUT", "/api/schedules/unknown", { name: "x" }],
    ["PUT", "/api/schedules/unknown/toggle", { enabled: true }],
    ["DELETE", "/api/schedules/unknown", undefined],
  ] as const
) {
  Deno.test(`${method} ${path} is 404`, async () => {
    using app = testApp();
    const answer = await app.call(method, path, body);
    deepEqual([answer.status, answer.body], [404, { error: "Schedule unknown does not exist" }]);
  });
}

for (const action of ["start", "stop", "restart", "update"]) {
  Deno.test(`a schedule that does ${action} needs the permission for it as well`, async () => {
    const needed = `containers:${action}`;
    const error = `The role operator or ${needed} is required for this`;
    using app = await appWithRights("schedules:write");
    using allowed = await appWithRights("schedules:write", needed);
    const path = "/api/schedules";
    const schedule = { ...nightly, action, allowMissing: true };

    const refused = await app.asViewer("POST", path, schedule);
    deepEqual([refused.status, refused.body.error], [403, error]);
    equal((await allowed.asViewer("POST", path, schedule)).status, 201);

    const { body: { id } } = await app.call("POST", path, schedule);
    for (
      const [method, change, status] of [
        ["PUT", { cronExpression: "* * * * *" }, 403],
        ["PUT", { enabled: false, cronExpression: "* * * * *" }, 200],
        ["PUT", { enabled: true }, 403],
        ["PUT", { containerName: "db", containerId: "db", allowMissing: true }, 200],
      ] as const
    ) {
      const answer = await app.asViewer(method, `${path}/${id}`, change);
      equal(answer.status, status, answer.body.error);
    }
    equal((await app.asViewer("PUT", `${path}/${id}/toggle`, { enabled: true })).status, 403);
    equal((await app.call("GET", `${path}/${id}`)).body.enabled, false);
    equal((await app.call("PUT", `${path}/${id}/toggle`, { enabled: true })).status, 200);
    equal((await app.asViewer("PUT", `${path}/${id}/toggle`, { enabled: false })).status, 200);
    equal((await app.asViewer("DELETE", `${path}/${id}`)).status, 200);
  });
}

Deno.test("an API token needs the permission for what its schedule does", async () => {
  using app = testApp();
  const create = (permissions: string[]) =>
    app.call("POST", "/api/schedules", { ...nightly, allowMissing: true }, {
      scope: { permissions },
    });
  equal((await create(["schedules:write"])).status, 403);
  equal((await create(["schedules:write", "containers:stop"])).status, 403);
  equal((await create(["schedules:write", "containers:restart"])).status, 201);
});

Deno.test("automatic updates need the permission to update containers as well", async () => {
  using app = await appWithRights("settings:write");
  const windows = [{ cron: "0 3 * * *", timeZone: "UTC", durationMinutes: 60 }];
  for (
    const [change, status] of [
      [{ policy: "auto" }, 403],
      [{ windows }, 403],
      [{ policy: "notify", windows: [] }, 200],
      [{ intervalHours: 12 }, 200],
    ] as const
  ) equal((await app.asViewer("PUT", "/api/updates/settings", change)).status, status);
});

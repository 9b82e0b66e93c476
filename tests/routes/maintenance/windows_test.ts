import { deepEqual, equal, match, ok } from "node:assert/strict";
import { evaluateAlerts } from "../../../services/alerts/evaluation.ts";
import { reportHeldEvents } from "../../../services/alerts/silences/held.ts";
import { emit } from "../../../services/events/emit.ts";
import { composeLabels, containerOf, setContainers } from "../../helpers/fake_containers.ts";
import { appWithReceivers, takeQueued, toAll, toPeople } from "../../helpers/message_receivers.ts";
import { openTestDatabase, type TestApp, testApp } from "../../helpers/test_app.ts";

const PATH = "/api/maintenance/windows";
const OTHERS = { target: { kind: "containers", containers: ["web"] } };
const HOST = { target: { kind: "host" } };
const NIGHTLY = {
  cron: "0 3 * * *",
  timeZone: "Europe/Berlin",
  durationMinutes: 60,
  scope: HOST,
};

async function create(app: TestApp, window: object): Promise<string> {
  const { status, body } = await app.call("POST", PATH, window);
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

const down = ({ deps }: TestApp, container: string) =>
  emit(deps, "container.down", { container, id: "c1", reason: "exited", exitCode: 1 });

Deno.test("a window is created, listed, changed and deleted", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { status, body } = await app.call("POST", PATH, { ...NIGHTLY, timeZone: "europe/berlin" });
  equal(status, 201);
  deepEqual(body, {
    ...NIGHTLY,
    id: body.id,
    comment: "",
    createdAt: "2026-01-01T12:00:00.000Z",
    openUntil: null,
    nextOpensAt: "2026-01-02T02:00:00.000Z",
  });
  deepEqual((await app.call("GET", PATH)).body, { windows: [body] });
  const scope = { target: { kind: "containers", stacks: ["shop"], labels: { tier: "db" } } };
  const changed = await app.call("PUT", `${PATH}/${body.id}`, {
    scope,
    cron: "0 13 * * *",
    comment: "Backup",
    durationMinutes: 30,
  });
  deepEqual(changed.body, {
    ...body,
    scope,
    cron: "0 13 * * *",
    comment: "Backup",
    durationMinutes: 30,
    openUntil: "2026-01-01T12:30:00.000Z",
    nextOpensAt: "2026-01-02T12:00:00.000Z",
  });
  equal((await app.call("DELETE", `${PATH}/${body.id}`)).status, 200);
  equal((await app.call("DELETE", `${PATH}/${body.id}`)).status, 404);
  equal((await app.call("PUT", `${PATH}/${body.id}`, { comment: "" })).status, 404);
});

for (
  const [what, change, problem] of [
    ["six fields", { cron: "0 0 3 * * *" }, /^body\.cron: five fields are expected/],
    ["an unknown time zone", { timeZone: "Mars/Base" }, /^body\.timeZone: Mars\/Base is not/],
    ["no duration", { durationMinutes: 0 }, /^body\.durationMinutes/],
    ["more than a week", { durationMinutes: 10_081 }, /^body\.durationMinutes/],
    ["an unknown target", { scope: { target: { kind: "stack" } } }, /^body\.scope\.target/],
    [
      "an empty list of names",
      { scope: { target: { kind: "containers", containers: [] } } },
      /^body\.scope\.target\.containers/,
    ],
  ] as [string, object, RegExp][]
) {
  Deno.test(`a window with ${what} is refused`, async () => {
    using app = testApp();
    const { status, body } = await app.call("POST", PATH, { ...NIGHTLY, ...change });
    equal(status, 400);
    match(body.error, problem);
  });
}

Deno.test("windows are for admins, and there are at most 100", async () => {
  using app = testApp();
  equal((await app.call("GET", PATH, undefined, { role: "operator" })).status, 403);
  equal((await app.call("POST", PATH, NIGHTLY, { role: "operator" })).status, 403);
  for (let n = 0; n < 100; n++) await create(app, NIGHTLY);
  equal((await app.call("POST", PATH, NIGHTLY)).status, 409);
});

Deno.test("maintenance mode is on during a window of the host", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  await create(app, { ...NIGHTLY, comment: "Backup" });
  const modeAt = async (time: string) => {
    app.clock.set(time);
    return (await app.call("GET", "/api/maintenance")).body;
  };
  const off = { enabled: false, since: null, until: null, reason: null };
  deepEqual(await modeAt("2026-01-02T01:59:59.999Z"), off);
  const on = {
    enabled: true,
    since: "2026-01-02T02:00:00.000Z",
    until: "2026-01-02T03:00:00.000Z",
    reason: "Backup",
  };
  deepEqual(await modeAt("2026-01-02T02:00:00Z"), on);
  equal(app.deps.maintenance.active, true);
  deepEqual(await modeAt("2026-01-02T02:59:59.999Z"), on);
  deepEqual(await modeAt("2026-01-02T03:00:00Z"), off);
  equal(app.deps.maintenance.active, false);
});

Deno.test("a window that opens again before it closes, and overlapping ones, close at the last end", async () => {
  using app = testApp({ now: "2026-01-02T02:15:00Z" });
  const openUntil = async () =>
    Object.fromEntries(
      (await app.call("GET", PATH)).body.windows.map((
        { cron, openUntil }: { cron: string; openUntil: string | null },
      ) => [cron, openUntil]),
    );
  await create(app, { ...NIGHTLY, cron: "0,30 3 * * *", durationMinutes: 45 });
  await create(app, { ...NIGHTLY, cron: "10 3 * * *", durationMinutes: 15 });
  await create(app, { ...NIGHTLY, cron: "* * * * *", durationMinutes: 60, scope: OTHERS });
  const untilAt = async (time: string) => {
    app.clock.set(`2026-01-02T${time}:00Z`);
    const until = await openUntil();
    const { body: mode } = await app.call("GET", "/api/maintenance");
    return [until["0,30 3 * * *"], until["10 3 * * *"], mode.since, mode.until].map((text) =>
      text?.slice(11, 16) ?? null
    );
  };

  // Berlin is an hour ahead.
  deepEqual(await untilAt("02:15"), ["03:15", "02:25", "02:00", "03:15"]);
  deepEqual(await untilAt("02:50"), ["03:15", null, "02:30", "03:15"]);
  deepEqual(await untilAt("03:14"), ["03:15", null, "02:30", "03:15"]);
  deepEqual(await untilAt("03:15"), [null, null, null, null]);
  // It never closes; the answer is limited.
  ok((await openUntil())["* * * * *"] > "2026-01-02T04:15:00.000Z");
});

Deno.test("clock changes neither skip nor repeat a window", async () => {
  using app = testApp();
  await create(app, { ...NIGHTLY, cron: "30 2 * * *" });
  const openAt = (time: string) => {
    app.clock.set(time);
    return app.deps.maintenance.active;
  };
  // On 25 October 2026, 2:30 occurs at 0:30 and at 1:30 UTC.
  deepEqual(
    ["00:29", "00:30", "01:29", "01:30", "02:29"].map((time) => openAt(`2026-10-25T${time}:00Z`)),
    [false, true, true, false, false],
  );
  // On 29 March 2026 there is no 2:30; the next window is a day later.
  deepEqual(
    ["00:45", "01:00", "01:45"].map((time) => openAt(`2026-03-29T${time}:00Z`)),
    [false, false, false],
  );
  equal(openAt("2026-03-30T00:30:00Z"), true);
});

Deno.test("switching maintenance mode off ends an open window until its next time", async () => {
  const db = openTestDatabase();
  {
    using app = testApp({ db, now: "2026-01-02T02:10:00Z" });
    await create(app, NIGHTLY);
    equal(app.deps.maintenance.active, true);
    const { body } = await app.call("POST", "/api/maintenance", { enabled: false });
    equal(body.enabled, false);
    equal(app.deps.maintenance.active, false);
    equal((await app.call("GET", PATH)).body.windows[0].openUntil, null);
  }
  using app = testApp({ db, now: "2026-01-02T02:20:00Z" });
  equal(app.deps.maintenance.active, false);
  app.clock.set("2026-01-03T02:00:00Z");
  equal(app.deps.maintenance.active, true);
  db.close();
});

Deno.test("a window of containers pauses what is about them, and nothing else", async () => {
  using app = await appWithReceivers({ now: "2026-01-02T02:10:00Z" });
  setContainers(
    app,
    { name: "shop-db", labels: { ...composeLabels("shop", "db"), tier: "db" }, state: "exited" },
    { name: "shop-web", labels: composeLabels("shop", "web"), state: "exited" },
  );
  await create(app, {
    ...NIGHTLY,
    scope: { target: { kind: "containers", stacks: ["shop"], labels: { tier: "db" } } },
  });
  equal(app.deps.maintenance.active, false);
  down(app, "shop-db");
  deepEqual(takeQueued(app), []);
  down(app, "shop-web");
  deepEqual(takeQueued(app), toAll("container.down"));
  reportHeldEvents(app.deps);
  app.clock.set("2026-01-02T03:00:00Z");
  reportHeldEvents(app.deps);
  deepEqual(takeQueued(app), toPeople("container.down"));
});

Deno.test("rules do not fire for containers in a window, and fire after it", async () => {
  using app = testApp({ now: "2026-01-02T02:10:00Z" });
  setContainers(app, { name: "web", state: "exited", exitCode: 1 });
  await create(app, { ...NIGHTLY, scope: { target: { kind: "containers", containers: ["w*"] } } });
  const { status, body } = await app.call("POST", "/api/alerts/rules", {
    name: "Down",
    metric: "container_not_running",
    operator: ">",
    threshold: 0,
    durationSeconds: 0,
  });
  equal(status, 201, JSON.stringify(body));
  const firing = async () => {
    evaluateAlerts(app.deps);
    return (await app.call("GET", "/api/alerts/events")).body.events.length;
  };
  equal(await firing(), 0);
  app.clock.set("2026-01-02T03:00:00Z");
  equal(await firing(), 1);
});

for (
  const { target, has } of [
    { target: { kind: "containers" }, has: true },
    { target: { kind: "containers", containers: ["db", "shop-*"] }, has: true },
    { target: { kind: "containers", containers: ["db"] }, has: false },
    { target: { kind: "containers", stacks: ["s*p"] }, has: true },
    { target: { kind: "containers", containers: ["shop-*"], stacks: ["blog"] }, has: false },
    { target: { kind: "containers", labels: { tier: "web" } }, has: true },
    { target: { kind: "containers", labels: { tier: "db" } }, has: false },
    { target: { kind: "containers", labels: { tier: "w*" } }, has: true },
    { target: { kind: "containers", labels: { toString: "web" } }, has: false },
  ]
) {
  Deno.test(`a window of ${JSON.stringify(target)} has ${has ? "" : "not "}the container`, async () => {
    using app = testApp({ now: "2026-01-02T02:10:00Z" });
    const labels = { ...composeLabels("shop", "web"), tier: "web" };
    await create(app, { ...NIGHTLY, scope: { target } });
    equal(app.deps.maintenance.includes(containerOf({ name: "shop-web", labels })), has);
  });
}

import { deepEqual, equal } from "node:assert/strict";
import { sendDigests } from "../../../services/messages/digest.ts";
import { emit } from "../../../services/events/emit.ts";
import { collectHeld, deliverDue } from "../../helpers/outbox_delivery.ts";
import { type FakeReceiver, fakeReceiver } from "../../helpers/fake_receiver.ts";
import { openTestDatabase, type TestApp, testApp } from "../../helpers/test_app.ts";

const CHANNELS = "/api/notifications/channels";
const NIGHT = { from: "22:00", to: "07:00", timeZone: "UTC", exceptSeverity: "critical" };

const digestApp = (options: Parameters<typeof testApp>[0] = {}) =>
  testApp({
    now: "2026-01-01T23:00:00Z",
    ...options,
    config: {
      serverName: "host-1",
      outboundAllow: ["127.0.0.1"],
      serviceBaseUrl: "https://example.org/ops",
    },
  });

async function create(app: TestApp, { url }: FakeReceiver, settings: object): Promise<string> {
  const { status, body } = await app.call("POST", CHANNELS, {
    name: "Phone",
    kind: "gotify",
    config: { url, token: "t" },
    ...settings,
  });
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

/** Sends what is due, and returns the new messages. */
async function send(
  app: TestApp,
  receiver: FakeReceiver,
): Promise<{ title: string; message: string }[]> {
  const before = receiver.received.length;
  sendDigests(app.deps);
  await deliverDue(app.deps, { signal: new AbortController().signal });
  return receiver.received.slice(before).map(({ body }) => JSON.parse(body));
}

const titles = async (app: TestApp, receiver: FakeReceiver) =>
  (await send(app, receiver)).map(({ title }) => title);

const oom = (app: TestApp, container: string) => {
  emit(app.deps, "container.oom", { container, id: "c1" });
  collectHeld(app);
};
const unhealthy = (app: TestApp, container: string) => {
  emit(app.deps, "container.unhealthy", { container, id: "c1", healthOutput: null });
  collectHeld(app);
};

/** A monitor has an end as well. */
const monitor = (app: TestApp, name: string, isUp: boolean) => {
  const data = { monitor: name, monitorId: name, outageId: `outage ${name}` };
  if (isUp) emit(app.deps, "monitor.up", { ...data, downtimeSeconds: 60 });
  else emit(app.deps, "monitor.down", { ...data, cause: "timeout" });
  collectHeld(app);
};

Deno.test("during quiet hours only what is severe is sent; one summary follows", async () => {
  await using receiver = fakeReceiver();
  using app = digestApp();
  await create(app, receiver, { quietHours: NIGHT });
  monitor(app, "shop", false);
  unhealthy(app, "db");
  oom(app, "web");
  deepEqual(await titles(app, receiver), ["[Critical] host-1: Container out of memory: web"]);
  app.clock.advance({ minutes: 90 });
  monitor(app, "shop", true);
  app.clock.set("2026-01-02T06:59:59Z");
  deepEqual(await titles(app, receiver), []);
  app.clock.set("2026-01-02T07:00:00Z");
  const [{ title, message } = { title: "", message: "" }, ...more] = await send(app, receiver);
  equal(title, "[Warning] host-1: 2 notifications, 1 of them over");
  deepEqual(message.split("\n").slice(0, 2), [
    "Monitor down: shop, 2026-01-01 23:00:00 UTC, over after 1 h 30 min",
    "Container unhealthy: db, 2026-01-01 23:00:00 UTC",
  ]);
  equal(message.split("\n").at(-1), "https://example.org/ops/");
  deepEqual(more, []);
  deepEqual(await titles(app, receiver), []);
  unhealthy(app, "db");
  deepEqual(await titles(app, receiver), ["[Warning] host-1: Container unhealthy: db"]);
});

Deno.test("a problem whose beginning was severe enough also ends during quiet hours", async () => {
  await using receiver = fakeReceiver();
  using app = digestApp({ now: "2026-01-01T21:59:00Z" });
  await create(app, receiver, { quietHours: { ...NIGHT, exceptSeverity: "warning" } });
  await create(app, receiver, { quietHours: NIGHT });
  monitor(app, "shop", false);
  equal((await titles(app, receiver)).length, 2);
  app.clock.set("2026-01-01T23:00:00Z");
  // Its beginning was severe enough for the first channel only.
  monitor(app, "shop", true);
  deepEqual(await titles(app, receiver), ["[Info] host-1: Monitor up: shop"]);
});

Deno.test("without an exception nothing is sent during quiet hours, except tests", async () => {
  await using receiver = fakeReceiver();
  using app = digestApp();
  const id = await create(app, receiver, { quietHours: { ...NIGHT, exceptSeverity: null } });
  oom(app, "web");
  deepEqual(await titles(app, receiver), []);
  await app.call("POST", `${CHANNELS}/${id}/test`);
  deepEqual(await titles(app, receiver), ["[Info] host-1: Test: messages arrive"]);
  app.clock.set("2026-01-02T07:00:00Z");
  deepEqual(await titles(app, receiver), ["[Critical] host-1: Container out of memory: web"]);
});

Deno.test("a digest has what happened since its first message", async () => {
  await using receiver = fakeReceiver();
  using app = digestApp();
  await create(app, receiver, { digestMinutes: 60 });
  monitor(app, "a", false);
  app.clock.advance({ minutes: 30 });
  monitor(app, "b", false);
  app.clock.advance({ minutes: 29 });
  deepEqual(await titles(app, receiver), []);
  app.clock.advance({ minutes: 1 });
  deepEqual(await titles(app, receiver), ["[Warning] host-1: 2 notifications"]);
  monitor(app, "a", true);
  app.clock.advance({ minutes: 59 });
  deepEqual(await titles(app, receiver), []);
  app.clock.advance({ minutes: 1 });
  // A single problem needs no summary.
  deepEqual(await titles(app, receiver), ["[Info] host-1: Monitor up: a"]);
  monitor(app, "a", false);
  app.clock.advance({ minutes: 5 });
  monitor(app, "a", true);
  app.clock.advance({ minutes: 55 });
  deepEqual(await titles(app, receiver), ["[Info] host-1: Monitor down: a, over after 5 min"]);
  for (const name of ["a", "b"]) {
    monitor(app, name, false);
    monitor(app, name, true);
  }
  app.clock.advance({ minutes: 60 });
  deepEqual(await titles(app, receiver), ["[Info] host-1: 2 notifications, all over"]);
});

Deno.test("a digest names at most 50 problems", async () => {
  await using receiver = fakeReceiver();
  using app = digestApp();
  await create(app, receiver, { digestMinutes: 60 });
  for (let n = 0; n < 60; n++) monitor(app, `m${n}`, false);
  app.clock.advance({ minutes: 60 });
  const [digest] = await send(app, receiver);
  equal(digest?.title, "[Warning] host-1: 60 notifications");
  equal(digest?.message.includes("Monitor down: m49,"), true);
  equal(digest?.message.includes("Monitor down: m50,"), false);
  equal(digest?.message.includes("\nand 10 more\n"), true);
});

Deno.test("held messages survive a restart, and wait until maintenance is over", async () => {
  await using receiver = fakeReceiver();
  const db = openTestDatabase();
  {
    using app = digestApp({ db });
    await create(app, receiver, { quietHours: NIGHT });
    unhealthy(app, "db");
  }
  using app = digestApp({ db, now: "2026-01-02T07:00:00Z" });
  await app.call("POST", "/api/maintenance", { enabled: true });
  deepEqual(await titles(app, receiver), []);
  await app.call("POST", "/api/maintenance", { enabled: false });
  deepEqual(await titles(app, receiver), ["[Warning] host-1: Container unhealthy: db"]);
  db.close();
});

Deno.test("on-call systems get each problem that lasts by itself, so that they can close it", async () => {
  await using receiver = fakeReceiver(() => new Response(null, { status: 202 }));
  using app = digestApp();
  await create(app, receiver, {
    kind: "pagerduty",
    config: { routingKey: "a".repeat(32), apiUrl: receiver.url },
    quietHours: NIGHT,
  });
  for (const name of ["a", "b", "c"]) monitor(app, name, false);
  monitor(app, "b", true);
  app.clock.set("2026-01-02T07:00:00Z");
  sendDigests(app.deps);
  await deliverDue(app.deps, { signal: new AbortController().signal });
  deepEqual(
    receiver.received.map(({ body }) => JSON.parse(body))
      .map((event) => [event.event_action, event.dedup_key]),
    [["trigger", "host-1 outage a"], ["trigger", "host-1 outage c"]],
  );
});

Deno.test("a disabled channel drops what it held; without quiet hours it is sent", async () => {
  await using receiver = fakeReceiver();
  using app = digestApp();
  const id = await create(app, receiver, { quietHours: NIGHT });
  unhealthy(app, "db");
  await app.call("PUT", `${CHANNELS}/${id}/toggle`, { enabled: false });
  await app.call("PUT", `${CHANNELS}/${id}/toggle`, { enabled: true });
  unhealthy(app, "web");
  deepEqual(await titles(app, receiver), []);
  equal((await app.call("PUT", `${CHANNELS}/${id}`, { quietHours: null })).body.quietHours, null);
  deepEqual(await titles(app, receiver), ["[Warning] host-1: Container unhealthy: web"]);
});

Deno.test("at most 500 messages wait for a channel", async () => {
  await using receiver = fakeReceiver();
  using app = digestApp();
  await create(app, receiver, { digestMinutes: 60 });
  for (let n = 0; n < 510; n++) monitor(app, `m${n}`, false);
  app.clock.advance({ minutes: 60 });
  const [digest] = await send(app, receiver);
  equal(digest?.title, "[Warning] host-1: 500 notifications");
  equal(digest?.message.startsWith("Monitor down: m10,"), true);
});

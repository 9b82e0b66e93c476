import { deepEqual, equal } from "node:assert/strict";
import { reportFailingChannels } from "../../../services/messages/failing.ts";
import { emit } from "../../../services/events/emit.ts";
import { fakeReceiver } from "../../helpers/fake_receiver.ts";
import { deliverDue } from "../../helpers/outbox_delivery.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";

const CHANNELS = "/api/notifications/channels";

const failingApp = () =>
  testApp({
    now: "2026-01-01T12:00:00Z",
    config: { serverName: "host-1", outboundAllow: ["127.0.0.1"] },
  });

async function create(app: TestApp, url: string, settings: object): Promise<void> {
  const channel = { kind: "gotify", config: { url, token: "t" }, ...settings };
  const { status, body } = await app.call("POST", CHANNELS, channel);
  equal(status, 201, JSON.stringify(body));
}

async function round(app: TestApp): Promise<void> {
  reportFailingChannels(app.deps);
  await deliverDue(app.deps, { signal: new AbortController().signal });
}

/** It is sent at once. */
const fail = ({ deps }: TestApp) =>
  emit(deps, "schedule.failed", {
    schedule: "nightly",
    scheduleId: "s1",
    container: "web",
    action: "restart",
    error: "exit code 1",
  });

Deno.test("a channel that fails for 24 hours is reported once through the others", async () => {
  let isBroken = true;
  await using broken = fakeReceiver(() => new Response(null, { status: isBroken ? 500 : 200 }));
  await using healthy = fakeReceiver();
  await using limited = fakeReceiver();
  using app = failingApp();
  await create(app, broken.url, { name: "Phone" });
  // It gets no events, and still the report.
  await create(app, healthy.url, { name: "Mail", events: ["test"] });
  await create(app, limited.url, { name: "Team", containers: ["other"] });
  fail(app);
  await round(app);
  app.clock.advance({ minutes: 24 * 60 - 1 });
  await round(app);
  deepEqual(healthy.received, []);
  app.clock.advance({ minutes: 1 });
  await round(app);
  await round(app);
  deepEqual(
    healthy.received.map(({ body }) => JSON.parse(body)).map(({ title, message }) => [
      title,
      ...message.split("\n").slice(0, 2).map((line: string) => line.replace(/(HTTP 500).*/, "$1")),
    ]),
    [[
      "[Warning] host-1: Notification channel failing: Phone",
      "Nothing could be sent since 2026-01-01 12:00:00 UTC",
      "Last error: HTTP 500",
    ]],
  );
  isBroken = false;
  fail(app);
  app.clock.advance({ minutes: 120 });
  await round(app);
  await round(app);
  deepEqual(
    healthy.received.slice(1).map(({ body }) => JSON.parse(body).title),
    ["[Info] host-1: Notification channel works again: Phone"],
  );
  deepEqual(limited.received, []);
});

Deno.test("the report waits for a channel that works; disabled channels are not reported", async () => {
  await using broken = fakeReceiver(() => new Response(null, { status: 500 }));
  await using healthy = fakeReceiver();
  using app = failingApp();
  for (const name of ["Phone", "Mail"]) await create(app, broken.url, { name });
  fail(app);
  await round(app);
  app.clock.advance({ days: 2 });
  await round(app);
  const { body: { channels } } = await app.call("GET", CHANNELS);
  const { id } = channels.find(({ name }: { name: string }) => name === "Mail");
  await app.call("PUT", `${CHANNELS}/${id}/toggle`, { enabled: false });
  await create(app, healthy.url, { name: "Chat" });
  await round(app);
  deepEqual(
    healthy.received.map(({ body }) => JSON.parse(body).title),
    ["[Warning] host-1: Notification channel failing: Phone"],
  );
});

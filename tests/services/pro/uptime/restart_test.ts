import { deepEqual, equal } from "node:assert/strict";
import { fakeReceiver } from "../../../helpers/fake_receiver.ts";
import { type Longshore, startLongshore } from "../../../helpers/longshore.ts";
import { until } from "../../../helpers/until.ts";

const BASE = "/api/ext/service-pro/uptime";

/** Events about monitors, in order. One that was sent when the service was killed is sent again. */
const eventsOf = (received: { body: string }[]): string[] => {
  const events = received.map(({ body }) => JSON.parse(body));
  return [...new Map(events.map(({ eventId, event }) => [eventId, event])).values()];
};

Deno.test("an outage is recorded, reported and ended once, even if the service is killed", async () => {
  let status = 200;
  await using target = fakeReceiver(() => new Response("hello", { status }));
  await using hooks = fakeReceiver();
  const env = { OUTBOUND_ALLOW: "127.0.0.0/8", API_KEY: "key-of-the-test-0123456789abcdef" };
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-uptime-" });
  const running: Longshore[] = [];
  const start = async () => {
    const service = await startLongshore({ dataDir, env });
    running.push(service);
    return service;
  };
  const outages = async (service: Longshore) =>
    (await service.call("GET", `${BASE}/incidents`)).body.incidents;
  try {
    const first = await start();
    equal((await first.call("POST", "/api/edition/trial")).status, 200);
    await first.call("POST", "/api/webhooks", {
      name: "hooks",
      url: hooks.url,
      events: ["monitor.down", "monitor.up"],
    });
    const { body: { id } } = await first.call("POST", `${BASE}/monitors`, {
      name: "Shop",
      type: "http",
      url: target.url,
      interval_seconds: 5,
      retries: 0,
    });
    const shows = (service: Longshore, wanted: string) =>
      until(
        `the monitor is ${wanted}`,
        async () => (await service.call("GET", `${BASE}/monitors/${id}`)).body.status === wanted,
      );
    await shows(first, "up");
    status = 500;
    await shows(first, "down");
    const [open] = await outages(first);
    await until("the webhook is called", () => eventsOf(hooks.received).length === 1);
    await first.kill9();

    const second = await start();
    const { body: { total } } = await second.call("GET", `${BASE}/monitors/${id}/checks`);
    await until(
      "it is checked again",
      async () => (await second.call("GET", `${BASE}/monitors/${id}/checks`)).body.total > total,
    );
    deepEqual(
      (await outages(second)).map((
        each: { id: string; status: string; started_at: string },
      ) => [each.id, each.status, each.started_at]),
      [
        [open.id, "open", open.started_at],
      ],
    );
    status = 200;
    await shows(second, "up");
    const closed = await outages(second);
    deepEqual([closed.length, closed[0].id, closed[0].status], [1, open.id, "resolved"]);
    await until("the webhook is called", () => eventsOf(hooks.received).length === 2);
    deepEqual(eventsOf(hooks.received), ["monitor.down", "monitor.up"]);
  } finally {
    for (const service of running) await service[Symbol.asyncDispose]();
    await Deno.remove(dataDir, { recursive: true }).catch(() => {});
  }
});

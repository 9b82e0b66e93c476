import { emit } from "../../../services/events/emit.ts";
import { deepEqual, equal, match, ok } from "node:assert/strict";
import { broadcastStates, openStream } from "../../../services/live/frames.ts";
import { forwardEvents, streamBroadcaster } from "../../../services/live/broadcaster.ts";
import { composeLabels, containerOf, setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { type SseClient, sseClient } from "../../helpers/sse_client.ts";
import {
  TEST_API_KEY,
  type TestApp,
  testApp,
  type TestAppOptions,
} from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";
import { isInTime } from "../../helpers/in_time.ts";

interface ServedApp extends TestApp, AsyncDisposable {
  port: number;
  /** Opens a stream over a real connection. */
  open(
    query?: string,
    headers?: Record<string, string>,
  ): Promise<SseClient & { status: number; headers: Headers }>;
}

/** The application on a real port. */
function served(options: TestAppOptions = {}): ServedApp {
  const app = testApp(options);
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    (request, { remoteAddr }) => app.app(request, remoteAddr.hostname),
  );
  const { port } = server.addr;
  return {
    ...app,
    port,
    async open(query = "", headers = { authorization: "Made-Up viewer" }) {
      const { status, headers: answered, body } = await fetch(
        `http://127.0.0.1:${port}/api/stream${query}`,
        { headers },
      );
      return Object.assign(sseClient(body!), { status, headers: answered });
    },
    async [Symbol.asyncDispose]() {
      app.deps.stream.close();
      await server.shutdown();
      app[Symbol.dispose]();
    },
  };
}

async function tokenOf(app: TestApp): Promise<string> {
  const { body } = await app.call("POST", "/auth/token", { apiKey: TEST_API_KEY }, {
    role: "public",
  });
  return body.accessToken;
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

const down = { container: "web", id: "c1", reason: "exited", exitCode: 1 } as const;

Deno.test("GET /api/stream sends metrics, containers and alerts immediately", async () => {
  await using app = served();
  setContainers(app, { name: "web" }, { name: "db", state: "exited", exitCode: 1 });
  const client = await app.open();

  equal(client.status, 200);
  equal(client.headers.get("content-type"), "text/event-stream");
  equal(client.headers.get("cache-control"), "no-store");
  equal(client.headers.get("x-accel-buffering"), "no");
  const [metrics, containers, alerts] = await client.take(3);
  equal(client.retry, 5_000);
  deepEqual([metrics?.type, containers?.type, alerts?.type], ["metrics", "containers", "alerts"]);
  ok(metrics!.data.memory.total > 0);
  match(metrics!.data.timestamp, /^2026-01-01T00:00:00\.000Z$/);
  equal(metrics!.data.containers.running, 1);
  const { body } = await app.call("GET", "/api/containers", undefined, { role: "viewer" });
  deepEqual(containers!.data, { ...body, stacks: [] });
  deepEqual(alerts!.data, { firing: [], recent: [] });
  await client.cancel();
});

Deno.test("GET /api/stream sends the state of each round, and events in between", async () => {
  await using app = served();
  setContainers(app, { name: "web" });
  const stop = new AbortController();
  const forwarding = forwardEvents(app.deps, stop.signal);
  const client = await app.open();
  await client.take(3);

  const { eventId } = emit(app.deps, "container.down", down);
  const event = await client.next();
  setContainers(app);
  await broadcastStates(app.deps);
  const round = await client.take(3);

  deepEqual([event?.type, event?.data], ["event", {
    event: "container.down",
    timestamp: "2026-01-01T00:00:00.000Z",
    eventId,
    server: "test-host",
    serverId: app.deps.server.id,
    data: { ...down, image: "app:1" },
    title: "Container down: web",
    tone: "problem",
    lines: ["Exited (exit code 1)"],
    problem: { key: "down container web", phase: "begin" },
  }]);
  deepEqual(round.map(({ type }) => type), ["metrics", "containers", "alerts"]);
  deepEqual(round[1]?.data, { containers: [], stacks: [] });
  await client.cancel();
  stop.abort();
  await forwarding;
});

Deno.test("a new client gets changes since the last round", async () => {
  await using app = served();
  setContainers(app, { name: "web" });
  await (await app.open()).cancel();
  const { inventory } = app.deps;
  inventory.put(containerOf({ name: "db" }), inventory.readNumber());

  const client = await app.open("?types=containers");
  equal((await client.next())?.data.containers.length, 2);
  await client.cancel();
});

Deno.test("metrics continue while the engine is unreachable", async () => {
  await using app = served();
  const client = await app.open();
  const frames = await client.take(2);

  deepEqual(frames.map(({ type }) => type), ["metrics", "alerts"]);
  deepEqual(frames[0]?.data.engine, { reachable: false, version: null, apiVersion: null });
  equal(frames[0]?.data.containers.total, null);
  await client.cancel();
});

Deno.test("frames of an unreachable engine are not sent", async () => {
  const fake = fakeEngine({ "GET /containers/json": () => Response.json([]) });
  await using _ = fake;
  await using app = served({ engine: fake.engine });
  const client = await app.open();
  deepEqual((await client.take(3)).map(({ type }) => type), ["metrics", "containers", "alerts"]);

  await fake.down();
  await broadcastStates(app.deps);
  const [metrics, next] = await client.take(2);
  equal(metrics?.data.engine.reachable, false);
  equal(next?.type, "alerts");
  await client.cancel();
});

Deno.test("a change of maintenance mode is sent to every client at once", async () => {
  await using app = served();
  setContainers(app);
  const client = await app.open("?types=metrics");
  equal((await client.next())?.data.maintenance.enabled, false);

  await app.call("POST", "/api/maintenance", { enabled: true, reason: "New disks" });

  deepEqual((await client.next())?.data.maintenance, {
    enabled: true,
    since: "2026-01-01T00:00:00.000Z",
    until: null,
    reason: "New disks",
  });
  await client.cancel();
});

Deno.test("?types filters the stream", async () => {
  await using app = served();
  setContainers(app);
  const client = await app.open("?types=alerts,event");
  await client.next();
  app.deps.stream.publish("event", 1);
  await broadcastStates(app.deps);
  deepEqual((await client.take(2)).map(({ type }) => type), ["event", "alerts"]);
  await client.cancel();
});

Deno.test("the overview has numbers and the containers that need attention, and not all of them", async () => {
  await using app = served();
  setContainers(
    app,
    { name: "well" },
    { name: "ill", health: "unhealthy", labels: composeLabels("shop", "web") },
    { name: "job", state: "exited" },
    { name: "restarts", state: "restarting" },
  );
  const client = await app.open("?types=overview");

  const { type, data: { containers, attention, stacks } } = (await client.next())!;
  equal(type, "overview");
  deepEqual(containers, {
    running: 2,
    stopped: 1,
    unhealthy: 1,
    restarting: 1,
    paused: 0,
    total: 4,
  });
  deepEqual(attention.map(({ name }: { name: string }) => name).sort(), ["ill", "restarts"]);
  deepEqual([stacks.total, stacks.first[0].name, stacks.first[0].status], [1, "shop", "degraded"]);
  await client.cancel();
});

for (
  const { query, error } of [
    {
      query: "types=metrics,logs",
      error:
        /^query\.types\.1: must be one of metrics, overview, containers, alerts, monitors, event, job$/,
    },
    { query: "types=", error: /^query\.types\.0: must be one of / },
    { query: "types=event&types=metrics", error: /^query\.types: given 2 times/ },
    { query: "lastEventId=-1", error: /^query\.lastEventId: must be an id of this stream$/ },
  ]
) {
  Deno.test(`GET /api/stream?${query} is refused`, async () => {
    using app = testApp();
    const { status, body } = await app.call("GET", `/api/stream?${query}`);
    equal(status, 400);
    match(body.error, error);
    equal(app.deps.stream.count, 0);
  });
}

Deno.test("a client that reconnects gets the missed events", async () => {
  await using app = served();
  const first = await app.open("?types=event,alerts");
  const { id } = (await first.next())!;
  await first.cancel();
  for (const data of [1, 2]) app.deps.stream.publish("event", data);

  for (
    const [query, headers] of [
      ["", { "last-event-id": String(id) }],
      [`&lastEventId=${id}`, {}],
    ] as const
  ) {
    const client = await app.open(`?types=event,alerts${query}`, {
      authorization: "Made-Up viewer",
      ...headers,
    });
    deepEqual((await client.take(3)).map(({ type, data }) => [type, data]), [
      ["event", 1],
      ["event", 2],
      ["alerts", { firing: [], recent: [] }],
    ]);
    await client.cancel();
  }
});

Deno.test("an unknown Last-Event-ID is ignored", async () => {
  await using app = served();
  app.deps.stream.publish("event", "old");
  const client = await app.open("?types=event,alerts", {
    authorization: "Made-Up viewer",
    "last-event-id": "abc; DROP",
  });
  equal((await client.next())?.type, "alerts");
  await client.cancel();
});

Deno.test("a ticket is valid for one stream", async () => {
  await using app = served();
  const { body } = await app.call("POST", "/api/stream/ticket", undefined, {
    token: await tokenOf(app),
  });

  const client = await app.open(`?ticket=${body.ticket}`, {});
  equal(client.status, 200);
  ok(await client.next());
  await client.cancel();
  const again = await app.open(`?ticket=${body.ticket}`, {});
  equal(again.status, 401);
  await again.cancel();
});

Deno.test("more clients than MAX_SSE_CLIENTS get 503 until one leaves", async () => {
  await using app = served({ config: { maxSseClients: 1 } });
  const first = await app.open();
  await first.next();
  const { status, body } = await app.call("GET", "/api/stream");
  equal(status, 503);
  match(body.error, /stream clients reached/);

  await first.cancel();
  await until("the place is free", () => app.deps.stream.count === 0);
  const second = await app.open();
  equal(second.status, 200);
  await second.cancel();
});

Deno.test("sseClients counts the clients", async () => {
  await using app = served();
  setContainers(app);
  const clients = [await app.open(), await app.open()];
  equal((await app.call("GET", "/api/overview")).body.sseClients, 2);
  for (const client of clients) await client.cancel();
  await until("they are gone", () => app.deps.stream.count === 0);
});

Deno.test("the stream is compressed for clients that accept it", async () => {
  await using app = served();
  const encodingFor = async (accepted: string) => {
    const { headers, body } = await app.fetch("GET", "/api/stream?types=event", undefined, {
      headers: { "accept-encoding": accepted },
    });
    await body!.cancel();
    return headers.get("content-encoding");
  };
  equal(await encodingFor("br, gzip"), "gzip");
  equal(await encodingFor("identity"), null);
});

Deno.test("HEAD leaves no open client", async () => {
  await using app = served();
  const answer = await app.call("HEAD", "/api/stream");
  equal(answer.status, 200);
  equal(answer.headers.get("content-type"), "text/event-stream");
  equal(app.deps.stream.count, 0);
});

Deno.test("the stream ends when the token does", async () => {
  await using app = served();
  const client = await app.open("?types=alerts", bearer(await tokenOf(app)));
  await client.next();
  app.clock.advance({ minutes: 14 });
  await broadcastStates(app.deps);
  equal((await client.next())?.type, "alerts");

  app.clock.advance({ minutes: 1 });
  await broadcastStates(app.deps);
  deepEqual(await client.rest(), []);
});

Deno.test("a stream with a ticket ends after the lifetime of a token", async () => {
  await using app = served();
  const { body } = await app.call("POST", "/api/stream/ticket", undefined, {
    token: await tokenOf(app),
  });
  const client = await app.open(`?types=alerts&ticket=${body.ticket}`, {});
  await client.next();
  app.clock.advance({ minutes: 15 });
  await broadcastStates(app.deps);
  deepEqual(await client.rest(), []);
});

Deno.test("the stream ends at the logout", async () => {
  await using app = served();
  const token = await tokenOf(app);
  const client = await app.open("?types=event", bearer(token));
  equal((await app.call("POST", "/auth/logout", {}, { token })).status, 200);
  deepEqual(await client.rest(), []);
});

Deno.test("the stream ends when the user is deleted", async () => {
  await using app = served({ config: { authMode: "users" } });
  const { accounts } = app.deps;
  accounts.put("u1", "viewer");
  const client = sseClient(
    await openStream(app.deps, { userId: "u1", familyId: "f1", role: "viewer", address: "" }, {
      types: ["alerts", "event"],
      lastEventId: undefined,
    }),
  );
  await client.next();
  accounts.remove("u1");
  deepEqual(await client.rest(), []);
});

Deno.test("only admins receive events about accounts, and none of them after a lower role", async () => {
  await using app = served({ config: { authMode: "users" } });
  const { accounts } = app.deps;
  const stop = new AbortController();
  const forwarding = forwardEvents(app.deps, stop.signal);
  const open = async (userId: string, role: "admin" | "viewer") => {
    accounts.put(userId, role);
    const caller = { userId, familyId: "f1", role, address: "" };
    const options = { types: ["event"] as const, lastEventId: undefined };
    return sseClient(await openStream(app.deps, caller, options));
  };
  const [admin, viewer] = [await open("u1", "admin"), await open("u2", "viewer")];

  emit(app.deps, "account.new_sign_in", {
    account: "ada@example.com",
    userId: "u1",
    sessionId: "s1",
    address: "198.51.100.7",
    userAgent: null,
  });
  emit(app.deps, "container.down", down);

  const kinds = (await admin.take(2)).map(({ type, data }) => `${type} ${data.event}`);
  deepEqual(kinds, ["event account.new_sign_in", "event container.down"]);
  equal((await viewer.next())?.data.event, "container.down");
  accounts.put("u1", "viewer");
  deepEqual(await admin.rest(), []);
  await viewer.cancel();
  stop.abort();
  await forwarding;
});

Deno.test("the broadcaster sends immediately, forwards events, and ends the streams on stop", async () => {
  await using app = served();
  setContainers(app);
  const client = await app.open("?types=alerts,event");
  await client.next();
  const stop = new AbortController();
  let rounds = 0;
  const running = streamBroadcaster.run(app.deps, stop.signal, () => rounds++);
  equal((await client.next())?.type, "alerts");
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  equal((await client.next())?.data.event, "container.up");
  await until("the round is over", () => rounds === 1);

  stop.abort();
  await running;
  deepEqual(await client.rest(), []);
  equal((await app.call("GET", "/api/stream")).status, 503);
});

Deno.test("a changed container is sent before the next round is due", async () => {
  await using app = served();
  setContainers(app, { name: "web" });
  const client = await app.open("?types=containers");
  const stop = new AbortController();
  let rounds = 0;
  const running = streamBroadcaster.run(app.deps, stop.signal, () => rounds++);
  await until("the first round is over", () => rounds === 1);
  const changedAt = performance.now();
  setContainers(app, { name: "web", state: "exited" });

  const states: string[] = [];
  while (states.length < 2) states.push((await client.next())!.data.containers[0].state);
  deepEqual(states, ["running", "exited"]);
  ok(isInTime(performance.now() - changedAt, 5_000));
  stop.abort();
  await running;
});

Deno.test("what a request has changed is sent before the next round is due", async () => {
  await using app = served();
  setContainers(app, { name: "web" });
  const client = await app.open("?types=metrics");
  const stop = new AbortController();
  let rounds = 0;
  const running = streamBroadcaster.run(app.deps, stop.signal, () => rounds++);
  await until("the first round is over", () => rounds === 1);

  const webhook = { name: "ops", url: "https://hooks.example.com/x", events: ["container.up"] };
  await tokenOf(app);
  const created = await app.call("POST", "/api/webhooks", webhook);
  equal(created.status, 201);
  equal((await app.call("POST", "/api/webhooks", {})).status, 400);
  equal((await app.call("DELETE", `/api/webhooks/${created.body.id}`)).status, 200);
  const changes: unknown[] = [];
  while (changes.length < 3) changes.push((await client.next())!.data.changes);

  deepEqual(changes, [{}, {}, { "/api/webhooks": 2 }]);
  stop.abort();
  await running;
});

Deno.test("the results of monitors are sent with the next states, once each, and kept for 30 seconds", async () => {
  await using app = served({ edition: "pro", config: { outboundAllow: ["127.0.0.0/8"] } });
  const { body: shop } = await app.call("POST", "/api/ext/service-pro/uptime/monitors", {
    ...{ name: "Shop", type: "tcp", url: "127.0.0.1:1", retries: 0 },
  });
  const check = async () =>
    (await app.call("POST", `/api/ext/service-pro/uptime/monitors/${shop.id}/check`)).body;
  const client = await app.open("?types=monitors");
  const results = async () => (await client.next())!.data.results;

  const down = { ...await check(), monitor_status: "down", uptime_24h: 0 };
  await broadcastStates(app.deps);
  await broadcastStates(app.deps);
  deepEqual(await results(), [down]);

  app.clock.advance({ seconds: 20 });
  await app.call("POST", `/api/ext/service-pro/uptime/monitors/${shop.id}/pause`);
  const paused = { ...await check(), monitor_status: "paused", uptime_24h: 0 };
  await broadcastStates(app.deps);
  deepEqual(await results(), [down, paused]);

  app.clock.advance({ seconds: 20 });
  await check();
  await broadcastStates(app.deps);
  deepEqual((await results()).length, 2);
  await client.cancel();
});

Deno.test("a failing round ends the worker, but not the streams", async () => {
  await using app = served();
  const client = await app.open("?types=alerts");
  await client.next();
  const { deps } = app;
  const broken = {
    ...deps,
    inventory: { ...deps.inventory, list: () => raise("bug"), live: true },
  };
  const signal = new AbortController().signal;
  await streamBroadcaster.run(broken, signal, () => {}).then(
    () => ok(false, "it should have failed"),
    (error) => equal(error.message, "bug"),
  );
  equal(deps.stream.count, 1);
  await client.cancel();
});

Deno.test("clients that do not read are disconnected without affecting others", async () => {
  // The memory is that of the whole process, including other tests.
  for (let tries = 3;; tries--) {
    const { grownMb, sentMb, slowestMs } = await stalledClients();
    if (grownMb < sentMb / 4 && isInTime(slowestMs, 1_000)) return;
    ok(tries > 1, `grew by ${grownMb} MB of ${sentMb}, /livez took ${slowestMs} ms`);
  }
});

/** Memory for many clients that do not read, until they are disconnected. */
async function stalledClients() {
  const STALLED = 50;
  // Frames that the clients read are garbage in the same process.
  const HEALTHY = 2;
  const ROUNDS = 40;
  const FRAME_BYTES = 200_000;
  await using app = served();
  const { deps, port, clock } = app;

  const connections: Deno.TcpConn[] = [];
  for (let count = 0; count < STALLED; count++) {
    const connection = await Deno.connect({ hostname: "127.0.0.1", port });
    await connection.write(new TextEncoder().encode(
      "GET /api/stream?types=metrics HTTP/1.1\r\nHost: x\r\nAuthorization: Made-Up viewer\r\n\r\n",
    ));
    // Reads the head and then stops reading.
    await connection.read(new Uint8Array(16));
    connections.push(connection);
  }
  const healthy = await Promise.all(
    Array.from(
      { length: HEALTHY },
      // Compressed frames would be read before the others get enough to stall.
      () =>
        app.open("?types=metrics", {
          authorization: "Made-Up viewer",
          "accept-encoding": "identity",
        }),
    ),
  );
  for (const client of healthy) await client.next();
  equal(deps.stream.count, STALLED + HEALTHY);

  const memoryBefore = Deno.memoryUsage().rss;
  let slowestMs = 0;
  for (let round = 0; round < ROUNDS; round++) {
    deps.stream.setState("metrics", undefined, { round, filler: "x".repeat(FRAME_BYTES) });
    await deps.stream.broadcast();
    const frames = await Promise.all(healthy.map((client) => client.next()));
    deepEqual(frames.map((frame) => frame?.data.round), frames.map(() => round));
    const asked = performance.now();
    equal((await app.call("GET", "/livez")).status, 200);
    slowestMs = Math.max(slowestMs, performance.now() - asked);
  }
  const grownMb = (Deno.memoryUsage().rss - memoryBefore) / 2 ** 20;

  // Rounds while the clock advances: slow clients are disconnected.
  for (let round = 0; round < 4; round++) {
    clock.advance({ seconds: 15 });
    await deps.stream.broadcast();
    for (const client of healthy) await client.next();
  }
  await until("the stalled ones are let go", () => deps.stream.count === HEALTHY);

  for (const client of healthy) await client.cancel();
  for (const connection of connections) connection.close();
  return { grownMb, sentMb: STALLED * ROUNDS * FRAME_BYTES / 2 ** 20, slowestMs };
}

function raise(message: string): never {
  throw new Error(message);
}

import { deepEqual, equal, ok } from "node:assert/strict";
import type { Container } from "../../services/containers/inventory.ts";
import { composeLabels, containerOf, setContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { testApp } from "../helpers/test_app.ts";

const ENGINE = { "GET /version": () => Response.json({ Version: "20.10.24", ApiVersion: "1.41" }) };

const container = (name: string, fields: Partial<Container> = {}) =>
  containerOf({ name, ...fields });

const inStack = (project: string, service: string, fields: Partial<Container> = {}) =>
  container(`${project}-${service}`, { labels: composeLabels(project, service), ...fields });

Deno.test("GET /api/overview counts containers and stacks by their state", async () => {
  await using fake = fakeEngine(ENGINE);
  using app = testApp({ engine: fake.engine, config: { serverName: "dock-7" } });
  await fake.engine.request("GET", "/version").then((response) => response.bytes());
  setContainers(
    app,
    container("a"),
    container("b", { state: "paused" }),
    container("c", { state: "exited" }),
    container("d", { state: "created" }),
    container("e", { state: "restarting", health: "unhealthy" }),
    container("f", { health: "unhealthy" }),
    inStack("shop", "web"),
    inStack("blog", "web"),
    inStack("blog", "db", { state: "exited" }),
    inStack("old", "web", { state: "exited" }),
  );

  const { status, body } = await app.call("GET", "/api/overview", undefined, { role: "viewer" });

  equal(status, 200);
  const { system, ...rest } = body;
  deepEqual(rest, {
    serverName: "dock-7",
    hostname: "dock-7",
    containers: { running: 4, stopped: 5, total: 10, unhealthy: 1, paused: 1 },
    stacks: { allHealthy: false, healthy: 1, degraded: 1, stopped: 1, total: 3 },
    engine: { reachable: true, version: "20.10.24", apiVersion: "1.41" },
    maintenance: { enabled: false, since: null, until: null, reason: null },
    sseClients: 0,
    timestamp: "2026-01-01T00:00:00.000Z",
  });
  deepEqual(Object.keys(system).sort(), [
    "cpuCount",
    "cpuPercent",
    "disk",
    "load",
    "memory",
    "uptimeSeconds",
  ]);
});

Deno.test("all stacks are healthy if none has another status", async () => {
  await using fake = fakeEngine(ENGINE);
  using app = testApp({ engine: fake.engine });
  const allHealthy = async () => (await app.call("GET", "/api/overview")).body.stacks.allHealthy;
  setContainers(app, inStack("shop", "web"), inStack("blog", "web"));
  equal(await allHealthy(), true);
  setContainers(app, inStack("shop", "web"), inStack("old", "web", { state: "exited" }));
  equal(await allHealthy(), false);
});

Deno.test("GET /api/overview tells every user about maintenance mode", async () => {
  using app = testApp();
  await app.call("POST", "/api/maintenance", { enabled: true, reason: "New disks" });

  const { body } = await app.call("GET", "/api/overview", undefined, { role: "viewer" });

  deepEqual(body.maintenance, {
    enabled: true,
    since: "2026-01-01T00:00:00.000Z",
    until: null,
    reason: "New disks",
  });
});

Deno.test("GET /api/overview has null counts without the engine", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/overview");

  equal(status, 200);
  deepEqual(body.containers, {
    running: null,
    stopped: null,
    total: null,
    unhealthy: null,
    paused: null,
  });
  deepEqual(body.stacks, {
    allHealthy: null,
    healthy: null,
    degraded: null,
    stopped: null,
    total: null,
  });
  deepEqual(body.engine, { reachable: false, version: null, apiVersion: null });
  ok(body.system.memory.total > 0);
});

Deno.test("GET /api/overview does not wait for a slow engine", async () => {
  const never = Promise.withResolvers<Response>();
  await using fake = fakeEngine({ "GET /containers/json": () => never.promise });
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/overview");
  never.resolve(Response.json([]));

  equal(status, 200);
  equal(body.engine.reachable, false);
  equal(body.containers.total, null);
});

Deno.test("GET /api/overview asks the engine without an event stream", async () => {
  await using fake = fakeEngine({ ...ENGINE, "GET /containers/json": () => Response.json([]) });
  using app = testApp({ engine: fake.engine });

  const { body } = await app.call("GET", "/api/overview");
  equal(body.containers.total, 0);
  deepEqual(body.engine, { reachable: true, version: "20.10.24", apiVersion: "1.41" });
});

Deno.test("GET /api/overview sends no request to the engine with an event stream", async () => {
  await using fake = fakeEngine(ENGINE);
  using app = testApp({ engine: fake.engine });
  await fake.engine.request("GET", "/version").then((response) => response.bytes());
  setContainers(app);
  await app.call("GET", "/api/overview");
  const before = fake.requests.length;
  for (let call = 0; call < 5; call++) await app.call("GET", "/api/overview");
  equal(fake.requests.length, before);
});

Deno.test("GET /api/system/metrics adds swap and time", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", "/api/system/metrics", undefined, {
    role: "viewer",
  });
  equal(status, 200);
  equal(body.timestamp, "2026-01-01T00:00:00.000Z");
  deepEqual(Object.keys(body.swap).sort(), ["free", "percent", "total", "used"]);
  ok(!("cpuTime" in body) && !("network" in body));
});

for (const path of ["/api/overview", "/api/system/metrics", "/api/stream"]) {
  Deno.test(`GET ${path} needs a token`, async () => {
    using app = testApp();
    equal((await app.call("GET", path, undefined, { role: "public" })).status, 401);
  });
}

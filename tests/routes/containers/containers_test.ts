import { deepEqual, equal, match } from "node:assert/strict";
import type { Container } from "../../../services/containers/inventory.ts";
import type { ContainerStats } from "../../../services/containers/stats_cache.ts";
import {
  containerOf,
  idOf,
  setContainers,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp, type TestAppOptions } from "../../helpers/test_app.ts";

/** The application on an engine with these containers, without an event stream. */
function played(containers: SimulatedContainer[], options: TestAppOptions = {}) {
  const fake = fakeEngine(simulateContainers(containers));
  const app = testApp({ engine: fake.engine, ...options });
  return {
    ...app,
    fake,
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

/** The application with a current snapshot and an engine that fails every request. */
function followed(containers: (Partial<Container> & { name: string })[]) {
  const app = testApp();
  setContainers(app, ...containers);
  return app;
}

const SELF = "longshore";

Deno.test("GET /api/containers answers from the snapshot, newest first", async () => {
  using app = followed([
    { name: "old", createdAt: "2026-01-01T00:00:00.000Z" },
    { name: "new", createdAt: "2026-01-02T00:00:00.000Z" },
  ]);
  const { status, body } = await app.call("GET", "/api/containers", undefined, { role: "viewer" });
  deepEqual([status, body.containers.map(({ name }: Container) => name)], [200, ["new", "old"]]);
});

Deno.test("GET /api/containers shows exactly the documented fields", async () => {
  const { details } = containerOf({ name: "web" });
  using app = followed([{
    name: "web",
    health: "unhealthy",
    labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
    attachments: [{ networkId: "n1", network: "shop_default", ipv4: "", ipv6: "", mac: "" }],
    ports: [{ ip: "0.0.0.0", privatePort: 80, publicPort: 8080, type: "tcp" }],
    details: { ...details, limits: { ...details.limits, memoryBytes: 64 } },
  }]);
  const { body } = await app.call("GET", "/api/containers");
  deepEqual(body.containers, [{
    id: idOf("web"),
    name: "web",
    image: "app:1",
    imageId: `sha256:${"1".repeat(64)}`,
    state: "running",
    status: "Up Less than a second (unhealthy)",
    health: "unhealthy",
    createdAt: "2026-01-01T00:00:00.000Z",
    startedAt: "2026-01-01T00:00:00.000Z",
    exitCode: null,
    restartCount: 0,
    ports: [{ ip: "0.0.0.0", privatePort: 80, publicPort: 8080, type: "tcp" }],
    labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
    composeProject: "shop",
    composeService: "web",
    networks: ["shop_default"],
    ...{ group: null, description: null, icon: null, links: [] },
    cpuPercent: null,
    memory: null,
    networkRxPerSecond: null,
    networkTxPerSecond: null,
    blockReadPerSecond: null,
    blockWritePerSecond: null,
    cpuLimit: null,
    memoryLimit: 64,
    crashLooping: false,
    self: false,
    warning: null,
  }]);
});

for (
  const { query, names } of [
    { query: "state=exited", names: ["db"] },
    { query: "stack=shop", names: ["web"] },
    { query: "name=e", names: ["web", "cache"] },
    { query: "name=e&state=running&stack=shop", names: ["web"] },
    { query: "stack=unknown", names: [] },
  ]
) {
  Deno.test(`GET /api/containers?${query} filters the list`, async () => {
    using app = followed([
      { name: "web", labels: { "com.docker.compose.project": "shop" } },
      { name: "db", state: "exited", exitCode: 0 },
      { name: "cache" },
    ]);
    const { body } = await app.call("GET", `/api/containers?${query}`);
    deepEqual(body.containers.map(({ name }: Container) => name).sort(), names.sort());
  });
}

Deno.test("GET /api/containers asks the engine without an event stream, and uses no old snapshot", async () => {
  const containers: SimulatedContainer[] = [{ name: "web" }];
  await using app = played(containers);
  const names = async () =>
    (await app.call("GET", "/api/containers")).body.containers.map(({ name }: Container) => name);
  deepEqual(await names(), ["web"]);
  containers.push({ name: "db" });
  deepEqual((await names()).sort(), ["db", "web"]);
  await app.fake.down();
  equal((await app.call("GET", "/api/containers")).status, 503);
});

Deno.test("concurrent lists send one request to the engine", async () => {
  await using app = played([{ name: "web" }]);
  await Promise.all(Array.from({ length: 20 }, () => app.call("GET", "/api/containers")));
  equal(app.fake.requests.filter((each) => each.startsWith("GET /containers/json")).length, 1);
});

Deno.test("GET /api/containers/:id shows environment values only to admins", async () => {
  const web = containerOf({ name: "web" });
  web.details.env = [{ name: "PASSWORD", value: "secret" }];
  using app = followed([web]);
  const env = async (role: "viewer" | "operator" | "admin") =>
    (await app.call("GET", "/api/containers/web", undefined, { role })).body.env;
  deepEqual(await env("admin"), [{ name: "PASSWORD", value: "secret" }]);
  deepEqual(await env("operator"), [{ name: "PASSWORD", value: "********" }]);
  deepEqual(await env("viewer"), [{ name: "PASSWORD", value: "********" }]);
});

Deno.test("GET /api/containers/:id shows the last sample for 45 seconds", async () => {
  using app = followed([{ name: "web" }]);
  const stats = {
    ...{ cpuPercent: 12.5, cpuSeconds: 3, memoryUsage: 10, memoryLimit: 40, memoryPercent: 25 },
    ...{ networkRx: 1, networkTx: 2, blockRead: 3, blockWrite: 4, pids: 5 },
    read: "2026-01-01T00:00:00.000Z",
  };
  app.deps.stats.put(idOf("web"), stats);
  const { body } = await app.call("GET", "/api/containers/web");
  const { cpuSeconds: _, ...shown } = stats;
  deepEqual(body.stats, shown);
  deepEqual([body.cpuPercent, body.memory], [12.5, 10]);
  app.clock.advance({ seconds: 46 });
  const { body: later } = await app.call("GET", "/api/containers/web");
  deepEqual([later.stats, later.cpuPercent, later.memory], [null, null, null]);
});

Deno.test("GET /api/containers shows the last samples for 45 seconds", async () => {
  using app = followed([{ name: "web" }, { name: "held", state: "paused" }]);
  const { stats } = app.deps;
  const sample = (cpuPercent: number) => ({ cpuPercent, memoryUsage: 10 }) as ContainerStats;
  const list = async () => {
    const { body, headers } = await app.call("GET", "/api/containers");
    const figures = Object.fromEntries(body.containers.map((
      { name, cpuPercent, memory }: Container & { cpuPercent: number; memory: number },
    ) => [name, [cpuPercent, memory]]));
    return { figures, etag: headers.get("etag") };
  };
  deepEqual((await list()).figures, { web: [null, null], held: [null, null] });

  for (const name of ["web", "held"]) stats.put(idOf(name), sample(12.5));
  stats.publish();
  const published = await list();
  deepEqual(published.figures, { web: [12.5, 10], held: [null, null] });
  // A list that clients revalidate must not change with each sample.
  stats.put(idOf("web"), sample(50));
  equal((await list()).etag, published.etag);
  stats.publish();
  deepEqual((await list()).figures.web, [50, 10]);

  app.clock.advance({ seconds: 46 });
  deepEqual((await list()).figures.web, [null, null]);
});

Deno.test("GET /api/containers/:id asks the engine for the log of a health check", async () => {
  await using app = played([{ name: "web", health: "healthy" }]);
  await app.call("GET", "/api/containers");
  app.deps.inventory.setLive(true);
  const before = app.fake.requests.length;
  const { status, body } = await app.call("GET", "/api/containers/web");
  deepEqual([status, body.health, body.healthLog], [200, "healthy", []]);
  deepEqual(app.fake.requests.slice(before), [`GET /containers/${idOf("web")}/json`]);
});

Deno.test("GET /api/containers/:id refuses an ambiguous prefix", async () => {
  using app = followed([
    { name: "one", id: `ab1${"0".repeat(61)}` },
    { name: "two", id: `ab2${"0".repeat(61)}` },
  ]);
  const { status, body } = await app.call("GET", "/api/containers/ab");
  deepEqual([status, body.error], [400, "Several container ids begin with ab"]);
  equal((await app.call("GET", "/api/containers/ab1")).body.name, "one");
});

Deno.test("GET /api/containers/:id prefers a name over the prefix of an id", async () => {
  using app = followed([
    { name: "abc", id: "f".repeat(64) },
    { name: "other", id: `abc${"0".repeat(61)}` },
  ]);
  equal((await app.call("GET", "/api/containers/abc")).body.id, "f".repeat(64));
});

for (const ref of [idOf(SELF), idOf(SELF).slice(0, 12), SELF]) {
  for (const action of ["stop", "restart", "rebuild"]) {
    Deno.test(`POST ${action} refuses the service's own container by ${ref.slice(0, 14)}`, async () => {
      await using app = played([{ name: SELF }], { self: { id: idOf(SELF), hostname: null } });
      const { status, body } = await app.call("POST", `/api/containers/${ref}/${action}`);
      equal(status, 403);
      match(body.error, /own container/);
      deepEqual(app.fake.requests.filter((each) => each.startsWith("POST")), []);
    });
  }
}

Deno.test("POST bulk refuses the service's own container and acts on the others", async () => {
  await using app = played([{ name: SELF }, { name: "web" }], {
    self: { id: idOf(SELF), hostname: null },
  });
  const { body } = await app.call("POST", "/api/containers/bulk", {
    ids: [SELF, "web"],
    action: "restart",
  });
  deepEqual(body.results.map(({ id, ok }: { id: string; ok: boolean }) => [id, ok]), [
    [SELF, false],
    ["web", true],
  ]);
});

Deno.test("POST stop passes the timeout to the engine", async () => {
  await using app = played([{ name: "web" }]);
  await app.call("POST", "/api/containers/web/stop?t=3");
  await app.call("POST", "/api/containers/web/start");
  await app.call("POST", "/api/containers/web/stop");
  deepEqual(app.fake.requests.filter((each) => each.includes("/stop")), [
    `POST /containers/${idOf("web")}/stop?t=3`,
    `POST /containers/${idOf("web")}/stop?t=10`,
  ]);
});

Deno.test("POST bulk accepts at most twenty ids", async () => {
  using app = followed([]);
  const ids = Array.from({ length: 21 }, (_, n) => `web-${n}`);
  const { status, body } = await app.call("POST", "/api/containers/bulk", { ids, action: "stop" });
  equal(status, 400);
  match(body.error, /^body\.ids: /);
});

Deno.test("POST bulk is 503 while the engine is unreachable", async () => {
  using app = testApp();
  const { status } = await app.call("POST", "/api/containers/bulk", { ids: ["a"], action: "stop" });
  equal(status, 503);
});

Deno.test("a container that cannot start is 409 with the engine's message", async () => {
  await using app = played([{ name: "web", state: "exited" }]);
  app.fake.answers["POST /containers/*/start"] = () =>
    Response.json({ message: "driver failed: port is already allocated" }, { status: 500 });
  const { status, body } = await app.call("POST", "/api/containers/web/start");
  deepEqual([status, body.error], [409, "driver failed: port is already allocated"]);
});

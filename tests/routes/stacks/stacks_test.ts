import { deepEqual, equal } from "node:assert/strict";
import { listAll } from "../../../services/containers/reads.ts";
import {
  composeLabels,
  idOf,
  simulateContainers,
  taskLabels,
} from "../../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";

const shop = () =>
  simulateContainers([
    {
      name: "shop-web-1",
      labels: composeLabels("shop", "web", { dependsOn: "db:service_started" }),
    },
    { name: "shop-db-1", labels: composeLabels("shop", "db"), image: "db:2" },
  ]);

/** With a current snapshot. */
async function follow({ deps }: TestApp): Promise<void> {
  await listAll(deps);
  deps.inventory.setLive(true);
}

const inspects = ({ requests }: FakeEngine) => requests.filter((r) => r.endsWith("/json")).length;

Deno.test("GET /api/stacks lists stacks with their counts", async () => {
  await using fake = fakeEngine(shop());
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/stacks", undefined, { role: "viewer" });

  equal(status, 200);
  const { containers } = body.stacks[0];
  deepEqual(
    containers.map((
      { name, image, state, health }: Record<string, unknown>,
    ) => [name, image, state, health]),
    [["shop-db-1", "db:2", "running", null], ["shop-web-1", "app:1", "running", null]],
  );
  deepEqual(body, {
    stacks: [{
      name: "shop",
      kind: "compose",
      services: 2,
      containerCount: 2,
      running: 2,
      stopped: 0,
      finished: 0,
      unhealthy: 0,
      status: "healthy",
      allHealthy: true,
      containers,
    }],
  });
});

Deno.test("GET /api/stacks is answered from memory, and with 304 while nothing changes", async () => {
  await using fake = fakeEngine(shop());
  using app = testApp({ engine: fake.engine });
  await follow(app);
  const first = await app.call("GET", "/api/stacks");
  const asked = fake.requests.length;

  const again = await app.call("GET", "/api/stacks", undefined, {
    headers: { "if-none-match": first.headers.get("etag")! },
  });

  equal(again.status, 304);
  equal(fake.requests.length, asked);
});

Deno.test("GET /api/stacks/:name shows services, containers and the working directory", async () => {
  await using fake = fakeEngine(shop());
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/stacks/shop");

  equal(status, 200);
  deepEqual(
    body.services.map(({ name, image, dependsOn, containers }: typeof body) => ({
      name,
      image,
      dependsOn,
      containers: containers.map(({ name, state }: typeof body) => `${name} ${state}`),
    })),
    [
      { name: "db", image: "db:2", dependsOn: [], containers: ["shop-db-1 running"] },
      { name: "web", image: "app:1", dependsOn: ["db"], containers: ["shop-web-1 running"] },
    ],
  );
  deepEqual(
    { ...body, services: undefined },
    {
      name: "shop",
      kind: "compose",
      services: undefined,
      containerCount: 2,
      running: 2,
      stopped: 0,
      finished: 0,
      unhealthy: 0,
      status: "healthy",
      allHealthy: true,
      workingDir: "/srv/shop",
      configFiles: ["/srv/shop/compose.yaml"],
      hasSources: false,
    },
  );
});

Deno.test("a stack stopped through the API is shown as stopped by the next read", async () => {
  await using fake = fakeEngine(shop());
  using app = testApp({ engine: fake.engine });
  await follow(app);

  const stopped = await app.call("POST", "/api/stacks/shop/stop");

  equal(stopped.status, 200);
  deepEqual(stopped.body, {
    ok: true,
    results: ["shop-web-1", "shop-db-1"].map((name) => ({
      id: idOf(name),
      name,
      ok: true,
      changed: true,
      error: null,
    })),
  });
  const { body } = await app.call("GET", "/api/stacks");
  deepEqual([body.stacks[0].status, body.stacks[0].stopped], ["stopped", 2]);
  const { entries } = (await app.call("GET", "/api/audit?target=shop-db-1")).body;
  deepEqual(entries.map((entry: typeof body) => [entry.target, entry.targets]), [
    ["shop", ["shop", "shop-web-1", "shop-db-1"]],
  ]);
});

for (const action of ["start", "stop", "restart"]) {
  Deno.test(`POST /api/stacks/:name/${action} is for admins only`, async () => {
    await using fake = fakeEngine(shop());
    using app = testApp({ engine: fake.engine });

    const path = `/api/stacks/shop/${action}`;
    equal((await app.call("POST", path, undefined, { role: "operator" })).status, 403);
    equal((await app.call("POST", path, undefined, { role: "public" })).status, 401);
    equal(inspects(fake), 0);
    equal((await app.call("POST", path)).status, 200);
    equal((await app.call("POST", `/api/stacks/blog/${action}`)).status, 404);
  });
}

Deno.test("an unknown stack is 404, whatever characters its name has", async () => {
  await using fake = fakeEngine(shop());
  using app = testApp({ engine: fake.engine });

  for (const name of ["blog", "sho", "..%2F..%2Fcontainers", "%E2%82%AC", "constructor"]) {
    equal((await app.call("GET", `/api/stacks/${name}`)).status, 404, name);
  }
  equal((await app.call("GET", `/api/stacks/${"x".repeat(256)}`)).status, 400);
});

Deno.test("?kind= selects one of two stacks with the same name", async () => {
  await using fake = fakeEngine(simulateContainers([
    { name: "web", labels: composeLabels("shop", "web") },
    { name: "task", labels: taskLabels("shop", "web") },
  ]));
  using app = testApp({ engine: fake.engine });
  const kindOf = async (query: string) =>
    (await app.call("GET", `/api/stacks/shop${query}`)).body.kind;

  equal(await kindOf(""), "compose");
  equal(await kindOf("?kind=compose"), "compose");
  equal(await kindOf("?kind=swarm"), "swarm");
  equal(
    (await app.call("GET", "/api/stacks/shop?kind=pod")).body.error,
    "query.kind: must be one of compose, swarm",
  );
});

Deno.test("without an engine the stacks are 503", async () => {
  using app = testApp();

  equal((await app.call("GET", "/api/stacks")).status, 503);
  equal((await app.call("GET", "/api/stacks/shop")).status, 503);
  equal((await app.call("POST", "/api/stacks/shop/stop")).status, 503);
});

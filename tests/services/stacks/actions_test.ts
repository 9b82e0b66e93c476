import { deepEqual, equal, rejects } from "node:assert/strict";
import { listAll } from "../../../services/containers/reads.ts";
import { actOnStack } from "../../../services/stacks/actions.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { silentLog } from "../../../services/log.ts";
import { createReservations } from "../../../services/containers/reservations.ts";
import {
  composeLabels,
  idOf,
  simulateContainers,
  type SimulatedContainer,
  taskLabels,
} from "../../helpers/fake_containers.ts";
import { createSwarmManager } from "../../../services/swarm/manager.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { openTestDatabase, testConfig, testSecrets } from "../../helpers/test_app.ts";

const member = (
  service: string,
  fields: Partial<SimulatedContainer> & { dependsOn?: string } = {},
) => ({
  name: service,
  labels: composeLabels("shop", service, fields),
  state: "exited" as const,
  ...fields,
});

/** Dependencies of reads of credentials. */
const NO_REGISTRIES = {
  config: testConfig(),
  db: openTestDatabase(),
  secrets: testSecrets(),
};

/** The inventory is not live, so every read goes to the engine. */
function depsOf({ engine }: FakeEngine, self: string | null = null) {
  const now = () => new Date("2026-01-01T00:00:00Z");
  const hint = { id: self && idOf(self), hostname: null };
  return {
    engine,
    ...NO_REGISTRIES,
    inventory: createInventory(now),
    reservations: createReservations(),
    self: hint,
    swarm: createSwarmManager(engine, now),
    log: silentLog,
  };
}

/** The actions on containers, in order. */
function actions({ requests }: FakeEngine, names: string[]): string[] {
  return requests.flatMap((request) => {
    const [, id, action] = /^POST \/containers\/(\w+)\/(start|stop|restart)/.exec(request) ?? [];
    return id ? [`${action} ${names.find((name) => idOf(name) === id)}`] : [];
  });
}

Deno.test("a stack is started in the order of its dependencies", async () => {
  await using fake = fakeEngine(simulateContainers([
    member("web", { dependsOn: "app:service_started:false" }),
    member("app", { dependsOn: "db:service_started:false,cache:service_started:false" }),
    member("db"),
    member("cache"),
  ]));

  const report = await actOnStack(depsOf(fake), "shop", "start");

  deepEqual(actions(fake, ["web", "app", "db", "cache"]).slice(-2), ["start app", "start web"]);
  deepEqual(report, {
    ok: true,
    results: ["cache", "db", "app", "web"].map((name) => ({
      id: idOf(name),
      name,
      ok: true,
      changed: true,
      error: null,
    })),
  });
});

Deno.test("a start of a stack that is up does not run finished containers again", async () => {
  await using fake = fakeEngine(simulateContainers([
    member("migrate"),
    member("seed", { restart: "no" }),
    member("stopped"),
    member("failed", { restart: "no", exitCode: 1 }),
    member("web", {
      state: "running",
      dependsOn: "migrate:service_completed_successfully:false",
    }),
  ]));

  const { ok, results } = await actOnStack(depsOf(fake), "shop", "start");

  equal(ok, true);
  deepEqual(
    results.filter(({ changed }) => changed).map(({ name }) => name).sort(),
    ["failed", "stopped"],
  );
  deepEqual(
    actions(fake, ["migrate", "seed", "stopped", "failed", "web"]).sort(),
    // The engine is asked to start one that runs already, and does nothing.
    ["start failed", "start stopped", "start web"],
  );
});

Deno.test("a restart of a stack that is up does not run finished containers again", async () => {
  await using fake = fakeEngine(simulateContainers([
    member("migrate"),
    member("seed", { restart: "no" }),
    member("failed", { restart: "no", exitCode: 1 }),
    member("web", {
      state: "running",
      dependsOn: "migrate:service_completed_successfully:false",
    }),
  ]));

  const { ok, results } = await actOnStack(depsOf(fake), "shop", "restart");

  equal(ok, true);
  deepEqual(
    actions(fake, ["migrate", "seed", "failed", "web"]).sort(),
    ["restart failed", "restart web"],
  );
  deepEqual(
    results.filter(({ changed }) => !changed).map(({ name }) => name).sort(),
    ["migrate", "seed"],
  );
});

Deno.test("a start of a stopped stack runs finished containers again", async () => {
  await using fake = fakeEngine(simulateContainers([member("seed", { restart: "no" })]));

  await actOnStack(depsOf(fake), "shop", "start");

  deepEqual(actions(fake, ["seed"]), ["start seed"]);
});

Deno.test("a stack is stopped in reverse order", async () => {
  await using fake = fakeEngine(simulateContainers([
    member("db", { state: "running" }),
    member("web", { state: "running", dependsOn: "db:service_started:false" }),
  ]));

  const { ok } = await actOnStack(depsOf(fake), "shop", "stop");

  equal(ok, true);
  deepEqual(actions(fake, ["web", "db"]), ["stop web", "stop db"]);
});

Deno.test("a stack with circular dependencies is started", async () => {
  await using fake = fakeEngine(simulateContainers([
    member("a", { dependsOn: "b:service_started:false" }),
    member("b", { dependsOn: "a:service_started:false" }),
  ]));

  equal((await actOnStack(depsOf(fake), "shop", "start")).ok, true);
});

Deno.test("a stop uses the configured timeout of each container", async () => {
  await using fake = fakeEngine(simulateContainers([
    member("db", { state: "running", stopTimeout: 90 }),
    member("web", { state: "running" }),
  ]));

  await actOnStack(depsOf(fake), "shop", "stop");

  deepEqual(fake.requests.filter((request) => request.includes("/stop")).sort(), [
    `POST /containers/${idOf("db")}/stop?t=90`,
    `POST /containers/${idOf("web")}/stop?t=10`,
  ]);
});

Deno.test("containers in the desired state are not changed", async () => {
  await using fake = fakeEngine(simulateContainers([member("web", { state: "running" })]));

  const { results } = await actOnStack(depsOf(fake), "shop", "start");

  deepEqual(results.map(({ ok, changed }) => ({ ok, changed })), [{ ok: true, changed: false }]);
});

Deno.test("a failure of one container does not stop the others", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([
      member("db"),
      member("web", { dependsOn: "db:service_started:false" }),
    ]),
    [`POST /containers/${idOf("db")}/start`]: () =>
      Response.json({ message: "port is already allocated" }, { status: 500 }),
  });

  const { ok, results } = await actOnStack(depsOf(fake), "shop", "start");

  equal(ok, false);
  deepEqual(results.map(({ name, ok, changed, error }) => ({ name, ok, changed, error })), [
    { name: "db", ok: false, changed: false, error: "port is already allocated" },
    { name: "web", ok: true, changed: true, error: null },
  ]);
});

Deno.test("a service waits until its dependencies are healthy", async () => {
  const db: SimulatedContainer = member("db", {
    onStart(container) {
      container.health = "starting";
      setTimeout(() => container.health = "healthy", 150);
    },
  });
  let healthAtStart: unknown;
  const web = member("web", {
    dependsOn: "db:service_healthy:true",
    onStart: () => healthAtStart = db.health,
  });
  await using fake = fakeEngine(simulateContainers([web, db]));

  equal((await actOnStack(depsOf(fake), "shop", "start")).ok, true);
  equal(healthAtStart, "healthy");
});

Deno.test("a service waits until a dependency has completed", async () => {
  const job: SimulatedContainer = member("job", {
    onStart: (container) => void setTimeout(() => container.state = "exited", 150),
  });
  let stateAtStart: unknown;
  const web = member("web", {
    dependsOn: "job:service_completed_successfully:false",
    onStart: () => stateAtStart = job.state,
  });
  await using fake = fakeEngine(simulateContainers([web, job]));

  equal((await actOnStack(depsOf(fake), "shop", "start")).ok, true);
  equal(stateAtStart, "exited");
});

for (
  const [what, condition, onStart, error] of [
    [
      "is unhealthy",
      "service_healthy",
      (container: SimulatedContainer) => container.health = "unhealthy",
      "Dependency dep is not healthy",
    ],
    [
      "exited",
      "service_healthy",
      (container: SimulatedContainer) => container.state = "exited",
      "Dependency dep is not healthy",
    ],
    ["failed", "service_completed_successfully", (container: SimulatedContainer) => {
      container.state = "exited";
      container.exitCode = 3;
    }, "Dependency dep has not completed successfully"],
  ] as const
) {
  Deno.test(`a service is not started if a required dependency ${what}`, async () => {
    await using fake = fakeEngine(simulateContainers([
      member("dep", { onStart }),
      member("web", { dependsOn: `dep:${condition}:false` }),
      member("free"),
    ]));

    const { results } = await actOnStack(depsOf(fake), "shop", "start");

    deepEqual(results.map(({ name, ok, error }) => ({ name, ok, error })), [
      { name: "dep", ok: true, error: null },
      { name: "free", ok: true, error: null },
      { name: "web", ok: false, error },
    ]);
  });
}

Deno.test("a stop skips Longshore's own container and reports it", async () => {
  await using fake = fakeEngine(simulateContainers([
    member("manager", { state: "running" }),
    member("web", { state: "running" }),
  ]));

  const { ok, results } = await actOnStack(depsOf(fake, "manager"), "shop", "stop");

  equal(ok, false);
  deepEqual(results.map(({ name, ok, changed, error }) => ({ name, ok, changed, error })), [
    {
      name: "manager",
      ok: false,
      changed: false,
      error: "Skipped because Longshore itself runs here",
    },
    { name: "web", ok: true, changed: true, error: null },
  ]);
  deepEqual(actions(fake, ["manager", "web"]), ["stop web"]);
});

Deno.test("a start succeeds with Longshore's own container", async () => {
  await using fake = fakeEngine(simulateContainers([member("manager", { state: "running" })]));

  const { ok } = await actOnStack(depsOf(fake, "manager"), "shop", "start");

  equal(ok, true);
  deepEqual(actions(fake, ["manager"]), []);
});

Deno.test("an unknown stack is not found", async () => {
  await using fake = fakeEngine(simulateContainers([]));

  await rejects(actOnStack(depsOf(fake), "shop", "start"), { code: "not_found" });
});

Deno.test("actions on a swarm stack are refused if the engine is not a manager", async () => {
  await using fake = fakeEngine(simulateContainers([
    { name: "task", labels: taskLabels("shop", "web") },
  ]));

  await rejects(actOnStack(depsOf(fake), "shop", "stop"), { code: "conflict" });
  deepEqual(actions(fake, ["task"]), []);
});

Deno.test("an engine that is unreachable for every container fails the action", async () => {
  await using fake = fakeEngine(simulateContainers([member("web", { state: "running" })]));
  const deps = depsOf(fake);
  await listAll(deps);
  deps.inventory.setLive(true);
  await actOnStack(deps, "shop", "start");
  await fake.down();

  await rejects(actOnStack(deps, "shop", "stop"), { name: "EngineUnreachableError" });
});

import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import type { Service, Task } from "../../../engine/swarm.ts";
import { createRegistry } from "../../../services/images/registries/registries.ts";
import { getStack, listStacks, stacksVersion } from "../../../services/stacks/stacks.ts";
import { actOnStack } from "../../../services/stacks/actions.ts";
import { actOnService, specFor } from "../../../services/swarm/actions.ts";
import { createAlertMemory } from "../../../services/alerts/memory.ts";
import { createStatsCache } from "../../../services/containers/stats_cache.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { silentLog } from "../../../services/log.ts";
import { createReservations } from "../../../services/containers/reservations.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
  taskLabels,
} from "../../helpers/fake_containers.ts";
import { createSwarmManager } from "../../../services/swarm/manager.ts";
import { type FakeAnswer, type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { openTestDatabase, testApp, testConfig, testSecrets } from "../../helpers/test_app.ts";

type Mode = NonNullable<Service["Spec"]["Mode"]>;

const replicated = (Replicas?: number): Mode => ({
  Replicated: Replicas === undefined ? {} : { Replicas },
});

function serviceOf(name: string, Mode: Mode, labels: Record<string, string> = {}): Service {
  return {
    ID: `id-of-${name}`,
    Version: { Index: 1 },
    CreatedAt: "2026-01-01T00:00:00Z",
    UpdatedAt: "2026-01-01T00:00:00Z",
    Spec: {
      Name: `shop_${name}`,
      Labels: { "com.docker.stack.namespace": "shop", ...labels },
      TaskTemplate: { ContainerSpec: { Image: "app:1@sha256:abc" }, ForceUpdate: 2 },
      Mode,
    },
  };
}

/** An engine that manages a swarm, with tasks that start and stop immediately. */
function playSwarm(
  services: Service[],
  { containers = [], stuck = [] }: { containers?: SimulatedContainer[]; stuck?: string[] } = {},
): Record<string, FakeAnswer> {
  const byId = (id: string) => services.find(({ ID }) => ID === id)!;
  const tasks = () =>
    services.flatMap(({ ID, Spec: { Name, Mode } }): Task[] =>
      Array.from({ length: Mode?.Replicated ? Mode.Replicated.Replicas ?? 1 : 1 }, (_, i) => ({
        ID: `${ID}.${i + 1}`,
        ServiceID: ID,
        DesiredState: "running",
        Status: stuck.includes(Name!) ? { State: "rejected", Err: "No such image: app:1" } : {
          State: "running",
          ContainerStatus: { ContainerID: idOf(`${Name}.${i + 1}`) },
        },
        CreatedAt: "2026-01-01T00:00:00Z",
        UpdatedAt: "2026-01-01T00:00:00Z",
      }))
    );
  return {
    ...simulateContainers(containers),
    "GET /info": () =>
      Response.json({ Swarm: { LocalNodeState: "active", ControlAvailable: true } }),
    "GET /services": () => Response.json(services),
    "GET /services/*": ({ parts }) => Response.json(byId(parts[0]!)),
    "GET /tasks": ({ query }) => {
      const { service } = JSON.parse(query.get("filters") ?? "{}");
      return Response.json(tasks().filter((task) => !service || service.includes(task.ServiceID)));
    },
    "POST /services/*/update": ({ parts, query, body }) => {
      const service = byId(parts[0]!);
      if (Number(query.get("version")) !== service.Version.Index) {
        return Response.json({ message: "update out of sequence" }, { status: 500 });
      }
      service.Version.Index++;
      service.Spec = body;
      return Response.json({ Warnings: null });
    },
  };
}

/** Dependencies of reads of credentials. */
const NO_REGISTRIES = {
  config: testConfig(),
  db: openTestDatabase(),
  secrets: testSecrets(),
};

function depsOf({ engine }: FakeEngine, self: string | null = null) {
  const clock = { ms: Date.parse("2026-01-01T00:00:00Z") };
  const now = () => new Date(clock.ms);
  const hint = { id: self && idOf(self), hostname: null };
  return {
    engine,
    ...NO_REGISTRIES,
    inventory: createInventory(now),
    reservations: createReservations(),
    self: hint,
    swarm: createSwarmManager(engine, now),
    log: silentLog,
    now,
    clock,
  };
}

for (
  const { what, service, action, mode, label, force } of [
    {
      what: "stopping stores the number of replicas",
      service: serviceOf("web", replicated(3)),
      action: "stop",
      mode: replicated(0),
      label: "3",
      force: 2,
    },
    {
      what: "starting restores the number of replicas",
      service: serviceOf("web", replicated(0), { "longshore.replicas": "3" }),
      action: "start",
      mode: replicated(3),
      force: 2,
    },
    {
      what: "starting a service that was scaled to zero elsewhere sets one replica",
      service: serviceOf("web", replicated(0)),
      action: "start",
      mode: replicated(1),
      force: 2,
    },
    {
      what: "starting ignores a label that is not a number",
      service: serviceOf("web", replicated(0), { "longshore.replicas": "-5" }),
      action: "start",
      mode: replicated(1),
      force: 2,
    },
    {
      what: "restarting forces an update",
      service: serviceOf("web", replicated(2)),
      action: "restart",
      mode: replicated(2),
      force: 3,
    },
    {
      what: "restarting a stopped service starts it",
      service: serviceOf("web", replicated(0), { "longshore.replicas": "2" }),
      action: "restart",
      mode: replicated(2),
      force: 2,
    },
    {
      what: "restarting a global service forces an update",
      service: serviceOf("web", { Global: {} }),
      action: "restart",
      mode: { Global: {} },
      force: 3,
    },
  ] as const
) {
  Deno.test(`swarm service: ${what}`, () => {
    const spec = specFor(service, action);

    deepEqual(spec?.Mode, mode);
    equal(spec?.Labels?.["longshore.replicas"], label);
    equal(spec?.Labels?.["com.docker.stack.namespace"], "shop");
    equal(spec?.TaskTemplate?.ForceUpdate, force);
  });
}

for (
  const { what, mode, action } of [
    { what: "starting a running service", mode: replicated(), action: "start" },
    { what: "stopping a stopped service", mode: replicated(0), action: "stop" },
    { what: "starting a global service", mode: { Global: {} }, action: "start" },
  ] as const
) {
  Deno.test(`${what} changes nothing`, () => {
    equal(specFor(serviceOf("web", mode), action), undefined);
  });
}

Deno.test("a job cannot be stopped", () => {
  throws(() => specFor(serviceOf("web", { ReplicatedJob: {} }), "stop"), {
    code: "conflict",
    message: "shop_web is a job and cannot be scaled to zero",
  });
});

Deno.test("a manager reports the tasks on all nodes, and this node's containers once", async () => {
  const containers = [
    { name: "shop_web.1", labels: taskLabels("shop", "web", { slot: "1", task: "b" }) },
    {
      name: "shop_web.1.ended",
      labels: taskLabels("shop", "web", { slot: "1", task: "a" }),
      state: "exited" as const,
    },
  ];
  await using fake = fakeEngine(playSwarm([
    serviceOf("web", replicated(2)),
    serviceOf("agent", { Global: {} }),
  ], { containers }));
  const deps = depsOf(fake);

  const stacks = await listStacks(deps);
  deepEqual(stacks[0]!.containers.map(({ name }) => name), ["shop_web.1"]);
  deepEqual(stacks.map(({ containers: _, ...summary }) => summary), [{
    name: "shop",
    kind: "swarm",
    services: 2,
    containerCount: 3,
    running: 3,
    stopped: 0,
    finished: 0,
    unhealthy: 0,
    status: "healthy",
    allHealthy: true,
  }]);
  const { services, workingDir, configFiles } = await getStack(
    { ...deps, alerts: createAlertMemory(), stats: createStatsCache(deps.now) },
    "shop",
  );
  deepEqual(
    services.map(({ name, image, containers }) => ({
      name,
      image,
      containers: containers.map(({ name }) => name),
    })),
    [
      { name: "shop_agent", image: "app:1", containers: [] },
      { name: "shop_web", image: "app:1", containers: ["shop_web.1"] },
    ],
  );
  deepEqual({ workingDir, configFiles }, { workingDir: null, configFiles: [] });
});

Deno.test("a swarm stack is restored to its number of replicas after a stop", async () => {
  const web = serviceOf("web", replicated(2));
  await using fake = fakeEngine(playSwarm([web]));
  const deps = depsOf(fake);

  const stopped = await actOnStack(deps, "shop", "stop");
  const [whileStopped] = await listStacks(deps);
  const again = await actOnStack(deps, "shop", "stop");
  const started = await actOnStack(deps, "shop", "start");

  deepEqual(stopped, {
    ok: true,
    results: [{ id: web.ID, name: "shop_web", ok: true, changed: true, error: null }],
  });
  equal(whileStopped?.status, "stopped");
  equal(again.results[0]?.changed, false);
  equal(started.ok, true);
  deepEqual(web.Spec.Mode, replicated(2));
});

Deno.test("a stop reports a global service as failed and stops the others", async () => {
  const web = serviceOf("web", replicated(2));
  await using fake = fakeEngine(playSwarm([serviceOf("agent", { Global: {} }), web]));

  const { ok, results } = await actOnStack(depsOf(fake), "shop", "stop");

  equal(ok, false);
  deepEqual(results.map(({ name, error }) => ({ name, error })), [
    { name: "shop_agent", error: "shop_agent is a global service and cannot be scaled to zero" },
    { name: "shop_web", error: null },
  ]);
  deepEqual(web.Spec.Mode, replicated(0));
});

Deno.test("an outdated update is retried with the current specification", async () => {
  const web = serviceOf("web", replicated(2));
  const answers = playSwarm([web]);
  const update = answers["POST /services/*/update"]!;
  let first = true;
  await using fake = fakeEngine({
    ...answers,
    "POST /services/*/update": (request) => {
      if (first) web.Spec = { ...web.Spec, Mode: replicated(5) };
      if (first) web.Version.Index++;
      first = false;
      return update(request);
    },
  });

  equal((await actOnStack(depsOf(fake), "shop", "stop")).ok, true);
  equal(web.Spec.Labels?.["longshore.replicas"], "5");
});

Deno.test("a restart skips the service that Longshore itself runs in", async () => {
  const manager = serviceOf("manager", replicated(1));
  const containers = [{ name: "shop_manager.1", labels: taskLabels("shop", "manager") }];
  await using fake = fakeEngine(playSwarm([manager], { containers }));

  const { ok, results } = await actOnStack(depsOf(fake, "shop_manager.1"), "shop", "restart");

  equal(ok, false);
  equal(results[0]?.error, "Skipped because Longshore itself runs here");
  equal(manager.Version.Index, 1);
});

Deno.test("an engine without a swarm is asked at most every five seconds", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([]),
    "GET /info": () => Response.json({ Swarm: { LocalNodeState: "inactive" } }),
  });
  const deps = depsOf(fake);
  deps.inventory.setLive(true);
  const asked = () => fake.requests.filter((request) => request === "GET /info").length;

  equal(stacksVersion(deps), undefined);
  await listStacks(deps);
  await listStacks(deps);
  equal(asked(), 1);
  equal(stacksVersion(deps), String(deps.inventory.revision));

  deps.clock.ms += 6_000;
  equal(stacksVersion(deps), undefined);
  await listStacks(deps);
  equal(asked(), 2);
});

Deno.test("a demoted manager is not asked for services again", async () => {
  await using fake = fakeEngine({
    ...playSwarm([]),
    "GET /services": () =>
      Response.json({ message: "This node is not a swarm manager." }, { status: 503 }),
  });

  deepEqual(await listStacks(depsOf(fake)), []);
});

Deno.test("stacks cannot be listed while the engine is unreachable", async () => {
  await using fake = fakeEngine();
  await fake.down();

  await rejects(listStacks(depsOf(fake)), { name: "EngineUnreachableError" });
});

for (const action of ["start", "restart"] as const) {
  Deno.test(`the ${action} of a service sends the credentials of its image's registry`, async () => {
    using app = testApp();
    createRegistry(app.deps, {
      host: "registry.example",
      pathPrefix: null,
      username: "ann",
      password: "pw",
      insecure: false,
      caCertificate: null,
    });
    const web = serviceOf("web", replicated(action === "start" ? 0 : 1));
    web.Spec.TaskTemplate!.ContainerSpec!.Image = "registry.example/app:1";
    const swarm = playSwarm([web]);
    const sent: (string | null)[] = [];
    await using fake = fakeEngine({
      ...swarm,
      "POST /services/*/update": (request) => {
        sent.push(request.headers.get("x-registry-auth"));
        return swarm["POST /services/*/update"]!(request);
      },
    });
    await actOnService({ ...app.deps, engine: fake.engine }, web.ID, action);
    const auth = { username: "ann", password: "pw", serveraddress: "registry.example" };
    deepEqual(sent.map((each) => JSON.parse(atob(each!))), [auth]);
  });
}

import { deepEqual, equal } from "node:assert/strict";
import type { Node } from "../../../engine/swarm_nodes.ts";
import type { Task } from "../../../engine/swarm.ts";
import { isReporter, type MissingSince, runSwarmRound } from "../../../services/swarm/watcher.ts";
import { createSwarmManager } from "../../../services/swarm/manager.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { collectEvents, testApp } from "../../helpers/test_app.ts";

const AT = "2026-01-01T00:00:00Z";

/** A swarm with one service of two tasks, whose state a test changes. */
function swarmOf() {
  const state = {
    running: 2,
    node: "ready",
    update: undefined as Record<string, string> | undefined,
    services: true,
  };
  const task = (slot: number) => ({
    ID: `t${slot}`,
    ServiceID: "s1",
    Slot: slot,
    NodeID: "n1",
    DesiredState: "running",
    Status: slot <= state.running ? { State: "running" } : { State: "rejected", Err: "No image" },
    CreatedAt: AT,
    UpdatedAt: AT,
  });
  const service = () => ({
    ID: "s1",
    Version: { Index: 1 },
    CreatedAt: AT,
    UpdatedAt: AT,
    Spec: {
      Name: "shop_web",
      Labels: { "com.docker.stack.namespace": "shop" },
      TaskTemplate: { ContainerSpec: { Image: "app:1@sha256:abc" } },
      Mode: { Replicated: { Replicas: 2 } },
    },
    UpdateStatus: state.update,
  });
  const node = () => ({
    ID: "n1",
    Version: { Index: 1 },
    CreatedAt: AT,
    UpdatedAt: AT,
    Spec: { Role: "worker", Availability: "active" },
    Description: { Hostname: "edge-1" },
    Status: { State: state.node, Message: state.node === "ready" ? "" : "heartbeat failure" },
  });
  const answers = {
    "GET /info": () =>
      Response.json({ Swarm: { LocalNodeState: "active", ControlAvailable: true } }),
    "GET /nodes": () => Response.json([node()]),
    "GET /services": () => Response.json(state.services ? [service()] : []),
    "GET /tasks": () => Response.json(state.services ? [task(1), task(2)] : []),
  };
  return { state, answers };
}

async function watched(
  work: (
    state: ReturnType<typeof swarmOf>["state"],
    round: (afterMs?: number) => Promise<[event: string, data: object][]>,
  ) => Promise<void>,
): Promise<void> {
  const { state, answers } = swarmOf();
  await using fake = fakeEngine(answers);
  using app = testApp({ engine: fake.engine });
  const events = collectEvents(app);
  const missingSince: MissingSince = new Map();
  const deps = { ...app.deps, swarm: createSwarmManager(fake.engine, app.deps.now) };
  await work(state, async (afterMs = 5_000) => {
    app.clock.advance({ ms: afterMs });
    await runSwarmRound(deps, missingSince);
    return events.splice(0).map(({ event, data }) => [event, data]);
  });
}

Deno.test("a service is degraded after 15 seconds, and recovered when all tasks run", () =>
  watched(async (state, round) => {
    deepEqual(await round(), []);
    state.running = 1;
    deepEqual(await round(), []);
    deepEqual(await round(10_000), []);
    deepEqual(await round(), [[
      "service.degraded",
      { service: "shop_web", id: "s1", stack: "shop", running: 1, desired: 2, reason: "No image" },
    ]]);
    deepEqual(await round(), []);
    state.update = { State: "updating", StartedAt: AT };
    deepEqual(await round(), []);
    state.update = undefined;
    state.running = 2;
    deepEqual(await round(), [[
      "service.recovered",
      { service: "shop_web", id: "s1", stack: "shop", degradedSeconds: 15, wasRemoved: false },
    ]]);
  }));

Deno.test("a degraded service that is removed counts as recovered", () =>
  watched(async (state, round) => {
    state.running = 0;
    await round();
    deepEqual((await round(15_000)).map(([event]) => event), ["service.degraded"]);
    state.services = false;
    deepEqual(await round(), [[
      "service.recovered",
      { service: "shop_web", id: "s1", stack: "shop", degradedSeconds: 5, wasRemoved: true },
    ]]);
  }));

Deno.test("a rollback by Swarm is reported once, and not one that was there before", () =>
  watched(async (state, round) => {
    state.update = { State: "rollback_completed", StartedAt: AT, Message: "rollback completed" };
    deepEqual(await round(), []);
    state.update = { ...state.update, StartedAt: "2026-01-02T00:00:00Z" };
    deepEqual(await round(), [[
      "service.update_rolled_back",
      {
        service: "shop_web",
        id: "s1",
        stack: "shop",
        image: "app:1",
        reason: "rollback completed",
      },
    ]]);
    deepEqual(await round(), []);
  }));

Deno.test("a node is down and up again", () =>
  watched(async (state, round) => {
    await round();
    state.node = "down";
    deepEqual(await round(), [[
      "node.down",
      { node: "edge-1", id: "n1", role: "worker", reason: "heartbeat failure" },
    ]]);
    deepEqual(await round(60_000), []);
    state.node = "ready";
    deepEqual(await round(), [[
      "node.up",
      { node: "edge-1", id: "n1", downtimeSeconds: 65, wasRemoved: false },
    ]]);
  }));

for (
  const { what, own, leader, hosts, reports } of [
    { what: "on the leader", own: "n2", leader: "n2", hosts: ["n1", "n2"], reports: true },
    {
      what: "beside one on the leader",
      own: "n1",
      leader: "n2",
      hosts: ["n1", "n2"],
      reports: false,
    },
    { what: "on the first manager", own: "n1", leader: "n3", hosts: ["n1", "n2"], reports: true },
    { what: "on a later manager", own: "n2", leader: "n3", hosts: ["n1", "n2"], reports: false },
    { what: "outside of the swarm", own: "", leader: "n1", hosts: ["n1"], reports: true },
  ]
) {
  Deno.test(`Longshore ${what} ${reports ? "reports" : "does not report"}`, () => {
    using app = testApp();
    const labels = { "com.docker.swarm.task.id": `t-${own}` };
    setContainers(app, { name: "longshore", self: true, labels });
    const nodes = ["n1", "n2", "n3"].map((ID) => ({
      ID,
      ManagerStatus: { Leader: ID === leader, Reachability: "reachable" },
    })) as Node[];
    const tasks = hosts.map((NodeID) => ({
      ...{ ID: `t-${NodeID}`, ServiceID: "s1", NodeID },
      Status: { State: "running" },
    })) as Task[];
    equal(isReporter(app.deps, nodes, tasks), reports);
  });
}

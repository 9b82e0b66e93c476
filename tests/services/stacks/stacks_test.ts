import { deepEqual, equal } from "node:assert/strict";
import type { Container } from "../../../services/containers/inventory.ts";
import { summarizeStacks } from "../../../services/stacks/stacks.ts";
import { composeLabels, containerOf, taskLabels } from "../../helpers/fake_containers.ts";

const member = (
  service: string,
  fields: Partial<Container> & { dependsOn?: string; oneOff?: boolean } = {},
) =>
  containerOf({
    name: `shop-${service}-1`,
    labels: composeLabels("shop", service, fields),
    ...fields,
  });

const withRestart = (name: string): Pick<Container, "details"> => ({
  details: {
    ...containerOf({ name: "any" }).details,
    restartPolicy: { name, maximumRetryCount: 0 },
  },
});

Deno.test("a stack counts services and containers separately", () => {
  deepEqual(
    summarizeStacks([
      member("web", { name: "shop-web-1" }),
      member("web", { name: "shop-web-2", state: "paused" }),
      member("web", { name: "shop-web-3", health: "unhealthy" }),
      member("db", { state: "exited", exitCode: 1 }),
      containerOf({ name: "alone" }),
    ]),
    [{
      name: "shop",
      kind: "compose",
      services: 2,
      containerCount: 4,
      running: 2,
      stopped: 1,
      finished: 0,
      unhealthy: 1,
      status: "degraded",
      allHealthy: false,
    }],
  );
});

Deno.test("a finished container is counted as stopped and as finished", () => {
  const [stack] = summarizeStacks([
    member("seed", { ...withRestart("no"), state: "exited", exitCode: 0 }),
    member("db", { state: "exited", exitCode: 0 }),
    member("web"),
  ]);

  deepEqual([stack?.running, stack?.stopped, stack?.finished], [1, 2, 1]);
});

Deno.test("stacks are sorted by name, with numbers by value", () => {
  const inProject = (name: string) => containerOf({ name, labels: composeLabels(name, "web") });

  deepEqual(
    summarizeStacks(["shop10", "blog", "shop2"].map(inProject)).map(({ name }) => name),
    ["blog", "shop2", "shop10"],
  );
});

for (
  const { what, containers, status } of [
    {
      what: "all containers are running",
      containers: [member("web"), member("db")],
      status: "healthy",
    },
    {
      what: "health checks pass or are starting",
      containers: [member("web", { health: "starting" }), member("db", { health: "healthy" })],
      status: "healthy",
    },
    { what: "one is unhealthy", containers: [member("web", { health: "unhealthy" })] },
    { what: "one is paused", containers: [member("web", { state: "paused" }), member("db")] },
    { what: "all are paused", containers: [member("web", { state: "paused" })] },
    {
      what: "one has stopped, even with status 0",
      containers: [member("web", { state: "exited", exitCode: 0 }), member("db")],
    },
    {
      what: 'one with the restart policy "no" has finished',
      containers: [
        member("seed", { ...withRestart("no"), state: "exited", exitCode: 0 }),
        member("web"),
      ],
      status: "healthy",
    },
    {
      what: "one of two jobs has failed",
      containers: [
        member("seed", { name: "a", ...withRestart("no"), state: "exited", exitCode: 0 }),
        member("seed", { name: "b", ...withRestart("no"), state: "exited", exitCode: 1 }),
        member("web"),
      ],
    },
    {
      what: "everything has finished",
      containers: [member("seed", { ...withRestart("no"), state: "exited", exitCode: 0 })],
      status: "stopped",
    },
    { what: "one restarts repeatedly", containers: [member("web", { state: "restarting" })] },
    {
      what: "no container is running",
      containers: [
        member("web", { state: "created" }),
        member("db", { state: "exited", exitCode: 137 }),
        member("cache", { state: "dead" }),
      ],
      status: "stopped",
    },
    {
      what: "a job that others wait for has completed",
      containers: [
        member("migrate", { state: "exited", exitCode: 0 }),
        member("web", { dependsOn: "migrate:service_completed_successfully:false" }),
      ],
      status: "healthy",
    },
    {
      what: "a job that others wait for has failed",
      containers: [
        member("migrate", { state: "exited", exitCode: 1 }),
        member("web", { dependsOn: "migrate:service_completed_successfully:false" }),
      ],
    },
  ]
) {
  Deno.test(`a stack is ${status ?? "degraded"} when ${what}`, () => {
    equal(summarizeStacks(containers)[0]?.status, status ?? "degraded");
  });
}

Deno.test("one-off containers belong to no stack", () => {
  deepEqual(summarizeStacks([member("web", { oneOff: true })]), []);
});

Deno.test("the old container of a rebuild is not counted", () => {
  const [stack] = summarizeStacks([
    member("web"),
    member("web", {
      name: "web-longshore-old-running-0123456789ab",
      originalName: "web",
      state: "exited",
    }),
  ]);

  equal(stack?.containerCount, 1);
  equal(stack?.status, "healthy");
});

Deno.test("a container that only has the name of an old one counts", () => {
  const [stack] = summarizeStacks([
    member("web"),
    member("web", { name: "web-longshore-old-running-0123456789ab", state: "exited" }),
  ]);

  equal(stack?.containerCount, 2);
});

Deno.test("a worker's swarm stack consists of the current tasks on this node", () => {
  const task = (name: string, fields: Partial<Container>, labels = {}) =>
    containerOf({ name, labels: taskLabels("shop", "web", labels), ...fields });

  deepEqual(
    summarizeStacks([
      task("web.1.new", {}, { slot: "1", task: "new" }),
      task("web.1.old", { state: "exited", exitCode: 1 }, { slot: "1", task: "old" }),
      task("web.2.only", {}, { slot: "2", task: "only" }),
    ]),
    [{
      name: "shop",
      kind: "swarm",
      services: 1,
      containerCount: 2,
      running: 2,
      stopped: 0,
      finished: 0,
      unhealthy: 0,
      status: "healthy",
      allHealthy: true,
    }],
  );
});

Deno.test("a project and a swarm stack of the same name are two stacks", () => {
  deepEqual(
    summarizeStacks([
      member("web"),
      containerOf({ name: "task", labels: taskLabels("shop", "web") }),
    ]).map(({ name, kind, containerCount }) => ({ name, kind, containerCount })),
    [
      { name: "shop", kind: "compose", containerCount: 1 },
      { name: "shop", kind: "swarm", containerCount: 1 },
    ],
  );
});

import { deepEqual, ok } from "node:assert/strict";
import type { ContainerInspect } from "../../../../../engine/containers.ts";
import { loadProject } from "../../../../../services/ce/compose/load/load.ts";
import type { PlanOptions } from "../../../../../services/ce/compose/plan/options.ts";
import { type Observed, planProject } from "../../../../../services/ce/compose/plan/plan.ts";

/** A container of the project `shop`, as the engine describes it. */
const container = (service: string, change: { config?: object; running?: boolean } = {}) =>
  ({
    Id: "c".repeat(64),
    Image: "sha256:old",
    Name: `/shop-${service}-1`,
    State: {
      Running: change.running ?? true,
      Status: change.running === false ? "exited" : "running",
    },
    Config: {
      Image: "nginx",
      Env: ["PATH=/bin", "TOKEN=t0ken"],
      Labels: {
        "com.docker.compose.service": service,
        "com.docker.compose.container-number": "1",
      },
      ...change.config,
    },
    HostConfig: { NetworkMode: "shop_default" },
    Mounts: [],
    NetworkSettings: { Networks: { shop_default: {} } },
  }) as unknown as ContainerInspect;

function plan(
  services: string,
  observed: Partial<Observed> = {},
  options: PlanOptions = {},
) {
  const { project, errors } = loadProject({ compose: `services: {${services}}`, name: "shop" });
  deepEqual(errors, []);
  return planProject(project!, {
    containers: [],
    images: new Map([["sha256:old", { Env: ["PATH=/bin"] }]]),
    imageIds: new Map([["nginx", "sha256:old"], ["nginx:latest", "sha256:old"]]),
    networks: new Set(["shop_default"]),
    volumes: new Set(),
    ...observed,
  }, options);
}

const ofService = ({ changes }: ReturnType<typeof plan>, name: string) =>
  changes.find((change) => change.kind === "service" && change.name === name);

Deno.test("planProject() plans nothing for equal settings, whatever their form", () => {
  const { changes, warnings } = plan("web: {image: 'nginx:latest', environment: [TOKEN=t0ken]}", {
    containers: [container("web")],
  });

  deepEqual(changes.map(({ action }) => action), ["none", "none"]);
  deepEqual(warnings, []);
});

Deno.test("planProject() names changed variables, but never shows their values", () => {
  const planned = plan("web: {image: nginx, environment: [TOKEN=n3w]}", {
    containers: [container("web")],
  });

  deepEqual(ofService(planned, "web"), {
    kind: "service",
    name: "web",
    action: "recreate",
    reasons: [{
      path: "environment.TOKEN",
      from: "(changed)",
      to: "(changed)",
      text: "environment: TOKEN changed",
    }],
  });
  ok(!/t0ken|n3w/.test(JSON.stringify(planned)));
});

Deno.test("planProject() recreates for another image, and for a newer one of the same name", () => {
  const containers = [container("web", { config: { Env: [] } })];
  const reasons = (image: string, id: string) =>
    ofService(
      plan(`web: {image: '${image}'}`, { containers, imageIds: new Map([[image, id]]) }),
      "web",
    )
      ?.reasons.map(({ text }) => text);

  deepEqual(reasons("nginx:1.27", "sha256:other"), ["image changed from nginx to nginx:1.27"]);
  deepEqual(reasons("nginx", "sha256:new"), ["nginx has a newer image here"]);
});

const actionsOf = ({ changes }: ReturnType<typeof plan>) =>
  changes.map(({ kind, name, action }) => `${kind} ${name} ${action}`);

Deno.test("planProject() starts what is stopped, creates what is missing and removes orphans", () => {
  const containers = [container("web", { running: false }), container("old")];
  const services = "web: {image: nginx, environment: [TOKEN=t0ken]}, db: {image: postgres}";
  const planned = plan(services, { containers }, { removeOrphans: true });
  const others = ["network default none", "service web start", "service db create"];

  deepEqual(actionsOf(planned), [...others, "service old remove"]);
  deepEqual(actionsOf(plan(services, { containers })), [...others, "service old none"]);
  deepEqual(planned.warnings, ["Image postgres of db is not on the engine and has to be pulled"]);
});

Deno.test("planProject() names settings that it does not compare", () => {
  const { warnings } = plan(
    "web: {image: nginx, environment: [TOKEN=t0ken], shm_size: 64m, healthcheck: {test: a}}",
    { containers: [container("web")] },
  );

  deepEqual(warnings, ["Not compared with the containers of web: shm_size, healthcheck"]);
});

Deno.test("planProject() recreates always or never on request", () => {
  const same = "web: {image: nginx, environment: [TOKEN=t0ken]}";
  const changed = "web: {image: nginx, environment: [TOKEN=other]}";
  const containers = [container("web")];
  const action = (services: string, recreate: PlanOptions["recreate"]) =>
    ofService(plan(services, { containers }, { recreate }), "web")?.action;

  deepEqual(action(same, "changed"), "none");
  deepEqual(action(same, "always"), "recreate");
  deepEqual(action(changed, "changed"), "recreate");
  deepEqual(action(changed, "never"), "none");
});

Deno.test("planProject() plans some services with those that they depend on", () => {
  const services =
    "web: {image: nginx, depends_on: [db]}, db: {image: nginx}, other: {image: nginx}";

  deepEqual(actionsOf(plan(services, {}, { services: ["web"] })), [
    "network default none",
    "service web create",
    "service db create",
  ]);
});

Deno.test("planProject() recreates what shares a namespace of a recreated container", () => {
  const planned = plan(
    "web: {image: nginx, environment: [TOKEN=n3w]}, " +
      "side: {image: nginx, network_mode: 'service:web', environment: [TOKEN=t0ken]}",
    {
      containers: [
        container("web"),
        {
          ...container("side"),
          HostConfig: { NetworkMode: `container:${"c".repeat(64)}` },
        } as ContainerInspect,
      ],
    },
  );

  const side = ofService(planned, "side");
  deepEqual(side?.action, "recreate");
  deepEqual(side?.reasons.map(({ text }) => text), [
    "shares a namespace or volumes of web, which is recreated",
  ]);
});

Deno.test("planProject() recreates for a changed config or secret", () => {
  const containers = [container("web")];
  const services = "web: {image: nginx, environment: [TOKEN=t0ken]}";
  const planned = plan(services, { containers, fileHashes: new Map([["web", "hash"]]) });

  deepEqual(ofService(planned, "web")?.reasons.map(({ text }) => text), [
    "a config or secret changed",
  ]);
});

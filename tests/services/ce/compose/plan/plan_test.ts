import { deepEqual, ok } from "node:assert/strict";
import type { ContainerInspect } from "../../../../../engine/containers.ts";
import { loadProject } from "../../../../../services/ce/compose/load/load.ts";
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

function plan(services: string, observed: Partial<Observed> = {}) {
  const { project, errors } = loadProject({ compose: `services: {${services}}`, name: "shop" });
  deepEqual(errors, []);
  return planProject(project!, {
    containers: [],
    images: new Map([["sha256:old", { Env: ["PATH=/bin"] }]]),
    imageIds: new Map([["nginx", "sha256:old"], ["nginx:latest", "sha256:old"]]),
    networks: new Set(["shop_default"]),
    volumes: new Set(),
    ...observed,
  });
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

Deno.test("planProject() starts what is stopped, creates what is missing and removes orphans", () => {
  const planned = plan("web: {image: nginx, environment: [TOKEN=t0ken]}, db: {image: postgres}", {
    containers: [container("web", { running: false }), container("old")],
  });

  deepEqual(
    planned.changes.map(({ kind, name, action }) => `${kind} ${name} ${action}`),
    ["network default none", "service web start", "service db create", "service old remove"],
  );
  deepEqual(planned.warnings, ["Image postgres of db is not on the engine and has to be pulled"]);
});

Deno.test("planProject() names settings that it does not compare", () => {
  const { warnings } = plan(
    "web: {image: nginx, environment: [TOKEN=t0ken], shm_size: 64m, healthcheck: {test: a}}",
    { containers: [container("web")] },
  );

  deepEqual(warnings, ["Not compared with the containers of web: shm_size, healthcheck"]);
});

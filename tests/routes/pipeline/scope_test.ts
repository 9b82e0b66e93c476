/** API tokens that are limited to permissions, stacks or containers. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { insertAlertEvent } from "../../../db/alert_events.ts";
import { insertScheduleRun, updateScheduleRunEnd } from "../../../db/schedule_runs.ts";
import type { Scope } from "../../../services/access/scope.ts";
import type { MonitorResult } from "../../../services/stream/monitor_results.ts";
import { broadcastStates } from "../../../services/live/frames.ts";
import { forwardEvents } from "../../../services/live/broadcaster.ts";
import { emit } from "../../../services/events/emit.ts";
import {
  composeLabels,
  containerOf,
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { sseClient } from "../../helpers/sse_client.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const SHOP = { stacks: ["shop"] };
const WEB = { containers: ["web*"] };

const CONTAINERS: SimulatedContainer[] = [
  { name: "web", labels: composeLabels("shop", "web"), image: "shop/web", imageId: image("a") },
  { name: "db", labels: composeLabels("shop", "db"), image: "shop/db:2", imageId: image("b") },
  { name: "blog", labels: composeLabels("press", "blog"), image: "blog:1", imageId: image("a") },
];

function image(digit: string): string {
  return `sha256:${digit.repeat(64)}`;
}

/** An application whose inventory follows these containers of a fake engine. */
async function appOf(
  answers: Parameters<typeof fakeEngine>[0] = {},
): Promise<
  { app: TestApp; fake: FakeEngine; containers: SimulatedContainer[] } & AsyncDisposable
> {
  const containers = CONTAINERS.map((each) => ({ ...each }));
  const fake = fakeEngine({ ...simulateContainers(containers), ...answers });
  const app = testApp({ engine: fake.engine });
  await app.call("GET", "/api/containers");
  app.deps.inventory.setLive(true);
  return {
    app,
    fake,
    containers,
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await fake[Symbol.asyncDispose]();
    },
  };
}

const namesOf = (list: { name: string }[]) => list.map(({ name }) => name).sort();

Deno.test("a token limited to a stack sees the containers of that stack only", async () => {
  await using made = await appOf();
  const { app } = made;
  const list = async (path: string, scope: Partial<Scope>) =>
    (await app.call("GET", path, undefined, { scope })).body;

  deepEqual(namesOf((await list("/api/containers", SHOP)).containers), ["db", "web"]);
  deepEqual(namesOf((await list("/api/containers", WEB)).containers), ["web"]);
  deepEqual(namesOf((await list("/api/containers", { ...SHOP, ...WEB })).containers), ["web"]);
  // Neither response is cached for the other caller.
  equal((await app.call("GET", "/api/containers")).body.containers.length, 3);
  deepEqual(namesOf((await list("/api/containers", { stacks: ["none"] })).containers), []);
  deepEqual(namesOf((await list("/api/stacks", SHOP)).stacks), ["shop"]);
  const overview = await list("/api/overview", WEB);
  deepEqual([overview.containers.total, overview.stacks.total], [1, 1]);
});

Deno.test("a limited token sees its containers also while the inventory is not live", async () => {
  await using made = await appOf();
  const { app } = made;
  app.deps.inventory.setLive(false);
  const [mine, all] = await Promise.all([
    app.call("GET", "/api/containers", undefined, { scope: WEB }),
    app.call("GET", "/api/containers"),
  ]);
  deepEqual(namesOf(mine.body.containers), ["web"]);
  equal(all.body.containers.length, 3);
  equal((await app.call("GET", "/api/containers/blog", undefined, { scope: WEB })).status, 404);
  equal((await app.call("GET", "/api/containers/web", undefined, { scope: WEB })).status, 200);
});

for (const method of ["GET /api/containers/:id", "POST /api/containers/:id/restart"]) {
  for (const live of [true, false]) {
    Deno.test(`${method} answers the same for a container out of scope and an unknown one (${live ? "live" : "not live"})`, async () => {
      await using made = await appOf();
      const { app, fake } = made;
      app.deps.inventory.setLive(live);
      const [verb = "", path = ""] = method.split(" ");
      const ask = async (ref: string) => {
        const { status, body } = await app.call(verb, path.replace(":id", ref), undefined, {
          scope: SHOP,
        });
        return { status, error: body.error?.replace(ref, "...") };
      };
      const unknown = await ask("unknown");
      deepEqual(unknown, { status: 404, error: "Container ... does not exist" });
      for (const ref of ["blog", idOf("blog"), idOf("blog").slice(0, 12)]) {
        deepEqual(await ask(ref), unknown);
      }
      // A prefix of foreign ids is neither ambiguous nor known.
      deepEqual((await ask("62")).status, 404);
      equal((await ask("web")).status, 200);
      deepEqual(fake.requests.filter((request) => request.includes(`${idOf("blog")}/restart`)), []);
    });
  }
}

Deno.test("a bulk action treats containers out of scope as unknown", async () => {
  await using made = await appOf();
  const { app, fake } = made;
  const { body } = await app.call("POST", "/api/containers/bulk", {
    action: "stop",
    ids: ["web", "blog", idOf("blog")],
  }, { scope: SHOP });
  deepEqual(body, {
    results: [
      { id: "web", ok: true, state: "exited", error: null },
      { id: "blog", ok: false, state: null, error: "Container blog does not exist" },
      {
        id: idOf("blog"),
        ok: false,
        state: null,
        error: `Container ${idOf("blog")} does not exist`,
      },
    ],
    succeeded: 1,
    failed: 2,
  });
  equal(fake.requests.some((request) => request.includes(`${idOf("blog")}/stop`)), false);
});

Deno.test("a stack action needs all containers of the stack in the scope", async () => {
  await using made = await appOf();
  const { app } = made;
  const restart = async (name: string, scope: Partial<Scope>) =>
    (await app.call("POST", `/api/stacks/${name}/restart`, undefined, { scope })).status;

  equal(await restart("shop", SHOP), 200);
  equal(await restart("shop", { containers: ["web", "db"] }), 200);
  equal(await restart("shop", WEB), 404);
  equal(await restart("press", SHOP), 404);
  const detail = await app.call("GET", "/api/stacks/shop", undefined, { scope: WEB });
  deepEqual(namesOf(detail.body.services), ["web"]);
  equal((await app.call("GET", "/api/stacks/press", undefined, { scope: WEB })).status, 404);
});

Deno.test("images, networks and volumes are those of the containers in scope", async () => {
  const summary = (digit: string, names: string[]) => ({
    Id: image(digit),
    RepoTags: names,
    RepoDigests: names.map((name) => `${name.replace(/:.*/, "")}@${image("f")}`),
    Created: 1_760_000_000,
    Size: 7,
  });
  const network = (name: string) => ({
    Id: name,
    Name: name,
    Driver: "bridge",
    Scope: "local",
    Internal: false,
    Created: "2026-01-01T00:00:00Z",
    IPAM: { Config: [] },
  });
  const volume = (Name: string) => ({ Name, Driver: "local", Mountpoint: "/v", Scope: "local" });
  await using made = await appOf({
    "GET /images/json": () =>
      Response.json([
        summary("a", ["shop/web:latest", "blog:1"]),
        summary("b", ["shop/db:2"]),
        summary("c", ["unused:1"]),
      ]),
    "GET /networks": () => Response.json([network("shop_default"), network("press_default")]),
    "GET /volumes": () => Response.json({ Volumes: [volume("shop_data"), volume("press_data")] }),
  });
  const { app } = made;
  const attach = (name: string, project: string) => {
    const container = app.deps.inventory.get(idOf(name))!;
    const place = { networkId: "", network: `${project}_default`, ipv4: "", ipv6: "", mac: "" };
    app.deps.inventory.put(
      { ...container, volumes: [`${project}_data`], attachments: [place] },
      app.deps.inventory.readNumber(),
    );
  };
  attach("web", "shop");
  attach("blog", "press");
  const get = async (path: string) =>
    (await app.call("GET", path, undefined, { scope: SHOP })).body;

  const { images } = await get("/api/images");
  deepEqual(images.map(({ repoTags }: { repoTags: string[] }) => repoTags), [
    ["shop/web:latest"],
    ["shop/db:2"],
  ]);
  deepEqual(images.map(({ containers }: { containers: number }) => containers), [1, 1]);
  deepEqual(images[0].repoDigests, [`shop/web@${image("f")}`]);
  deepEqual(namesOf((await get("/api/networks")).networks), ["shop_default"]);
  deepEqual(namesOf((await get("/api/volumes")).volumes), ["shop_data"]);
});

Deno.test("the details of an image show the names and containers in scope", async () => {
  const tags = ["shop/web:latest", "blog:1"];
  const inspect = (digit: string) => () =>
    Response.json({ Id: image(digit), RepoTags: tags, RepoDigests: [] });
  const history = () => Response.json([{ CreatedBy: "make", Size: 1, Tags: tags, Comment: "" }]);
  await using made = await appOf({
    "GET /images/used/json": inspect("a"),
    "GET /images/used/history": history,
    "GET /images/foreign/json": inspect("c"),
    "GET /images/foreign/history": history,
  });
  const get = (path: string) => made.app.call("GET", path, undefined, { scope: SHOP });

  const { body } = await get("/api/images/used");
  deepEqual([body.repoTags, body.history[0].tags, namesOf(body.usedBy)], [
    ["shop/web:latest"],
    ["shop/web:latest"],
    ["web"],
  ]);
  equal((await get("/api/images/foreign")).status, 404);
});

Deno.test("the metrics export has only the series of containers in scope", async () => {
  await using made = await appOf();
  const { app } = made;
  const { body } = await app.call("GET", "/metrics", undefined, { scope: SHOP });
  match(body, /name="web"/);
  equal(/blog|press|node_|longshore_schedules/.test(body), false);
});

Deno.test("failures do not name containers out of scope", async () => {
  await using made = await appOf();
  const { app } = made;
  const { inventory, reservations } = app.deps;
  inventory.put(
    { ...inventory.get(idOf("web"))!, shares: [idOf("blog")] },
    inventory.readNumber(),
  );
  const [web, blog] = [containerOf({ name: "web" }), containerOf({ name: "blog" })];
  using _ = reservations.reserve(blog, "stopped", { affected: [web] });
  const ask = async (scope?: Partial<Scope>) =>
    (await app.call("POST", "/api/containers/web/restart", undefined, { scope })).body.error;

  match(await ask(), /^blog is being stopped/);
  equal(await ask(SHOP), "The reason concerns containers that this token cannot access");
});

Deno.test("a limited token cannot rebuild a container that others depend on", async () => {
  await using made = await appOf({ "GET /info": () => Response.json({}) });
  const { app, containers } = made;
  containers.find(({ name }) => name === "blog")!.networkMode = `container:${idOf("web")}`;
  const { status, body } = await app.call("POST", "/api/containers/web/rebuild", {}, {
    scope: SHOP,
  });
  deepEqual([status, body.error], [
    403,
    "Containers that this token cannot access depend on web",
  ]);
});

Deno.test("schedules and their runs are those of containers in scope", async () => {
  await using made = await appOf();
  const { app } = made;
  const create = async (containerId: string, containerName: string) => {
    const { body } = await app.call("POST", "/api/schedules", {
      name: `restart ${containerName}`,
      containerId,
      containerName,
      action: "restart",
      cronExpression: "0 3 * * *",
      allowMissing: true,
    });
    addRun(app, { ...body, error: "blog is being stopped, which also affects web" });
    return body.id as string;
  };
  const own = await create(idOf("web"), "web");
  const recreated = await create("0123456789ab", "web");
  const foreign = await create(idOf("blog"), "blog");
  await create(idOf("blog"), "web");
  await create("gone", "gone");
  const get = async (path: string) => await app.call("GET", path, undefined, { scope: SHOP });

  const { schedules } = (await get("/api/schedules")).body;
  deepEqual(schedules.map(({ id }: { id: string }) => id).sort(), [own, recreated].sort());
  equal((await get(`/api/schedules/${own}`)).status, 200);
  equal((await get(`/api/schedules/${foreign}`)).status, 404);
  const runs = (await get("/api/schedules/history?limit=1")).body;
  deepEqual([runs.total, runs.history.length, runs.history[0].error], [
    2,
    1,
    "The reason concerns containers that this token cannot access",
  ]);
});

Deno.test("schedules of stacks are those of stacks in scope, and those of the host are not", async () => {
  await using made = await appOf();
  const { app } = made;
  for (
    const each of [
      { name: "restart shop", kind: "stack", stack: "shop" },
      { name: "back up shop", kind: "backup", stack: "shop" },
      { name: "back up press", kind: "backup", stack: "press" },
      { name: "back up volumes", kind: "backup", volumes: ["shop_data"] },
      { name: "prune", kind: "prune" },
      { name: "prune backups", kind: "backup-prune" },
    ]
  ) {
    const { status, body } = await app.call("POST", "/api/schedules", {
      ...each,
      cronExpression: "0 3 * * *",
      allowMissing: true,
    });
    equal(status, 201, body.error);
    addRun(app, body);
  }
  const names = async (scope: Partial<Scope>) => {
    const get = async (path: string) => (await app.call("GET", path, undefined, { scope })).body;
    const { schedules } = await get("/api/schedules");
    const { history, total } = await get("/api/schedules/history");
    equal(total, history.length);
    const ran = history.map(({ scheduleName }: { scheduleName: string }) => scheduleName).sort();
    deepEqual(ran, namesOf(schedules));
    return ran;
  };
  deepEqual(await names(SHOP), ["back up shop", "restart shop"]);
  deepEqual(await names(WEB), []);
  equal((await names({})).length, 6);
});

/** Records a run that failed. */
function addRun(
  { deps: { db } }: TestApp,
  { id: scheduleId, name: scheduleName, kind, action, subject, error = "", ...rest }: {
    id: string;
    name: string;
    kind: string;
    action: string;
    subject: string;
    containerId?: string;
    containerName?: string;
    stack?: string;
    error?: string;
  },
): void {
  const { containerId = null, containerName = null, stack = null } = rest;
  const run = {
    id: crypto.randomUUID(),
    scheduleId,
    scheduleName,
    kind,
    action,
    containerId,
    containerName,
    stack,
    subject,
    jobId: null,
    startedAt: "2026-01-01T00:00:00.000Z",
  };
  insertScheduleRun(db, { ...run, dueAt: run.startedAt });
  const finishedAt = "2026-01-01T00:00:01.000Z";
  updateScheduleRunEnd(db, { ...run, finishedAt, status: "failure", error });
}

Deno.test("the event stream of a limited token has only its containers", async () => {
  await using made = await appOf();
  const { app } = made;
  const { deps } = app;
  await using end = {
    controller: new AbortController(),
    [Symbol.asyncDispose]: () => Promise.resolve(end.controller.abort()),
  };
  const forwarding = forwardEvents(deps, end.controller.signal);
  const open = async (scope: Partial<Scope>, lastEventId?: number) => {
    const query = lastEventId === undefined ? "" : `?lastEventId=${lastEventId}`;
    const { body } = await app.fetch("GET", `/api/stream${query}`, undefined, { scope });
    return sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>);
  };
  const client = await open(SHOP);
  const first = await client.take(2);
  deepEqual(first.map(({ type }) => type), ["metrics", "containers"]);
  equal(first[0]!.data.containers.total, 2);
  deepEqual(namesOf(first[1]!.data.containers), ["db", "web"]);

  emit(deps, "container.up", { container: "blog", id: idOf("blog") });
  emit(deps, "test", { message: "blog" });
  emit(deps, "container.up", { container: "web", id: idOf("web") });
  const [event] = await client.take(1);
  deepEqual([event!.type, event!.data.data.container], ["event", "web"]);
  await broadcastStates(deps);
  equal((await client.take(1))[0]!.type, "metrics");

  // After a reconnect, the missed events are filtered as well.
  const again = await open(SHOP, first[1]!.id - 1);
  equal((await again.take(1))[0]!.data.data?.container, "web");
  await client.cancel();
  await again.cancel();
  end.controller.abort();
  await forwarding;
  await until("no client is left", () => deps.stream.count === 0);
});

Deno.test("an event about a removed container is visible to a token with its name", async () => {
  await using made = await appOf();
  const { deps } = made.app;
  const gone = { event: "container.down", data: { container: "web-2", id: idOf("web-2") } };
  const open = async (scope: Partial<Scope>) => {
    const { body } = await made.app.fetch("GET", "/api/stream?types=event", undefined, { scope });
    return sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>);
  };
  const [named, stacked] = [await open(WEB), await open(SHOP)];
  deps.stream.publish("event", gone);
  deps.stream.publish("event", {
    event: "container.up",
    data: { container: "web", id: idOf("web") },
  });
  const seenBy = async (client: Awaited<ReturnType<typeof open>>) =>
    (await client.next())!.data.data.container;
  deepEqual([await seenBy(named), await seenBy(stacked)], ["web-2", "web"]);
  await named.cancel();
  await stacked.cancel();
});

const RESULT: MonitorResult = {
  monitor_id: "m1",
  status: "up",
  response_time_ms: 12,
  status_code: 200,
  error: null,
  checked_at: "2026-01-01T00:00:00.000Z",
  monitor_status: "up",
  uptime_24h: 100,
};

Deno.test("the event stream of a token with permissions has only their frames", async () => {
  await using made = await appOf();
  const { app } = made;
  const open = async (permissions: string[]) => {
    const { body } = await app.fetch("GET", "/api/stream", undefined, { scope: { permissions } });
    return sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>);
  };
  app.deps.monitorResults.record(RESULT);
  const host = await open(["system:read"]);
  const more = await open(["system:read", "containers:read", "alerts:read", "uptime:read"]);
  app.deps.stream.publish("event", { event: "alert.fired", data: {} });
  app.deps.stream.publish("event", { event: "container.up", data: {} });
  app.deps.stream.publish("event", { event: "certificate.expiring", data: {} });
  deepEqual((await more.take(7)).map(({ type, data }) => data.event ?? type), [
    "metrics",
    "containers",
    "alerts",
    "monitors",
    "alert.fired",
    "container.up",
    "certificate.expiring",
  ]);
  deepEqual((await host.take(2)).map(({ type, data }) => data.event ?? type), [
    "metrics",
    "certificate.expiring",
  ]);
  await host.cancel();
  await more.cancel();
});

const FIRED = {
  ruleId: "r1",
  ruleName: "High CPU",
  metric: "cpu_percent",
  operator: ">",
  threshold: 90,
  value: 95,
  message: "CPU is at 95 %",
  severity: "warning",
  stack: null,
  firedAt: "2026-01-01T00:00:00.000Z",
  resolvedAt: null,
  acknowledgedAt: null,
  acknowledgedBy: null,
  comment: null,
} as const;

const READS = ["system:read", "containers:read", "stacks:read", "alerts:read"];

const OVERVIEW_SCOPES: Partial<Scope>[] = [
  ...[{}, SHOP, WEB, { ...SHOP, ...WEB }],
  ...[
    READS,
    READS.slice(0, 1),
    ...READS.slice(1).map((one) => READS.filter((each) => each !== one)),
  ]
    .flatMap((permissions) => [{ permissions }, { ...SHOP, permissions }]),
];

for (const scope of OVERVIEW_SCOPES) {
  Deno.test(`the stream shows as much as the endpoints, ${JSON.stringify(scope)}`, async () => {
    await using made = await appOf();
    const { app, containers } = made;
    containers.find(({ name }) => name === "db")!.state = "restarting";
    app.deps.inventory.setLive(false);
    await app.call("GET", "/api/containers");
    app.deps.inventory.setLive(true);
    for (const container of ["web", "blog"]) {
      insertAlertEvent(app.deps.db, { ...FIRED, id: container, container });
    }
    const types = "metrics,overview";
    const { body } = await app.fetch("GET", `/api/stream?types=${types}`, undefined, { scope });
    const client = sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>);
    const { data: metrics } = (await client.next())!;
    app.deps.stream.publish("event", 1);
    await broadcastStates(app.deps);
    const { type, data: overview } = (await client.next())!;
    await client.cancel();
    const get = (path: string) => app.call("GET", path, undefined, { scope });

    const { body: expected } = await get("/api/overview");
    for (const field of ["containers", "engine", "maintenance"]) {
      deepEqual(metrics[field], expected[field], field);
    }
    const listed = await get("/api/containers");
    equal(type === "overview", listed.status === 200);
    if (type !== "overview") return;
    equal(overview.containers.total, expected.containers.total);
    const stacks = await get("/api/stacks");
    equal(overview.stacks?.total, stacks.status === 200 ? expected.stacks.total : undefined);
    const hasAlerts = (await get("/api/alerts/events")).status === 200;
    const isListed = (name: string) => namesOf(listed.body.containers).includes(name);
    deepEqual(
      namesOf(overview.attention),
      (hasAlerts ? ["blog", "db", "web"] : ["db"]).filter(isListed),
    );
  });
}

Deno.test("the event stream has the stacks of GET /api/stacks, as far as the token may see them", async () => {
  await using made = await appOf();
  const { app } = made;
  const stacksOf = async (scope: Partial<Scope>) => {
    const { body } = await app.fetch("GET", "/api/stream?types=containers", undefined, { scope });
    const client = sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>);
    const { stacks } = (await client.next())!.data;
    await client.cancel();
    return stacks;
  };
  const listed = async (scope: Partial<Scope>) =>
    (await app.call("GET", "/api/stacks", undefined, { scope })).body.stacks
      .map(({ containers: _containers, ...summary }: Record<string, unknown>) => summary);
  const counts = async (scope: Partial<Scope>) =>
    (await stacksOf(scope)).map((stack: Record<string, unknown>) => [
      stack.name,
      stack.containerCount,
    ]);

  deepEqual(await counts({}), [["press", 1], ["shop", 2]]);
  deepEqual(await counts(SHOP), [["shop", 2]]);
  deepEqual(await counts(WEB), [["shop", 1]]);
  for (const scope of [{}, SHOP, WEB]) deepEqual(await stacksOf(scope), await listed(scope));
  equal(await stacksOf({ permissions: ["system:read", "containers:read"] }), undefined);
});

Deno.test("permissions limit a token also below its role", async () => {
  await using made = await appOf();
  const { app } = made;
  const scope = { permissions: ["containers:restart"] };
  const ask = (method: string, path: string, body?: unknown) =>
    app.call(method, path, body, { scope });

  equal((await ask("POST", "/api/containers/web/restart")).status, 200);
  deepEqual(await errorOf(ask("GET", "/api/containers")), [
    403,
    "This API token does not have the permission containers:read",
  ]);
  equal((await ask("POST", "/api/containers/web/stop")).status, 403);
  const bulk = (action: string) => ask("POST", "/api/containers/bulk", { ids: ["web"], action });
  equal((await bulk("restart")).status, 200);
  equal((await bulk("stop")).status, 403);
  deepEqual(await errorOf(ask("POST", "/api/push/register", { token: "x" })), [
    403,
    "Not available to an API token that is limited to permissions",
  ]);
  equal((await ask("GET", "/auth/me")).status, 200);
  // Its role still has to suffice.
  const viewer = await app.call("POST", "/api/containers/web/restart", undefined, {
    scope,
    role: "viewer",
  });
  equal(viewer.status, 403);
});

Deno.test("public endpoints treat a limited token as no token", async () => {
  await using made = await appOf();
  const { body } = await made.app.call("GET", "/api/health", undefined, { scope: SHOP });
  deepEqual(Object.keys(body), ["status"]);
});

Deno.test("API tokens cannot manage accounts", async () => {
  await using made = await appOf();
  deepEqual(await errorOf(made.app.call("POST", "/auth/logout", undefined, { scope: {} })), [
    403,
    "API tokens cannot be used for this; log in instead",
  ]);
});

async function errorOf(answer: Promise<{ status: number; body: { error: string } }>) {
  const { status, body } = await answer;
  return [status, body.error];
}

Deno.test("the description of a container has no references to others", async () => {
  await using made = await appOf();
  const { app, fake } = made;
  const inspect = fake.answers["GET /containers/*/json"]!;
  fake.answers["GET /containers/*/json"] = async (request) => {
    const found = await (await inspect(request)).json();
    const HostConfig = {
      NetworkMode: `container:${idOf("blog")}`,
      PidMode: "host",
      Links: ["/blog:/web/blog"],
      VolumesFrom: ["blog"],
    };
    return Response.json({ ...found, HostConfig });
  };
  const { body } = await app.call("GET", "/api/containers/web/inspect", undefined, { scope: SHOP });
  deepEqual(body.HostConfig, {
    NetworkMode: "container:********",
    PidMode: "host",
    Links: null,
    VolumesFrom: null,
  });
});

Deno.test("a limited token cannot delete a container that others depend on", async () => {
  await using made = await appOf();
  const { inventory } = made.app.deps;
  inventory.put(
    { ...inventory.get(idOf("blog"))!, shares: [idOf("web")] },
    inventory.readNumber(),
  );
  const { status, body } = await made.app.call(
    "DELETE",
    "/api/containers/web?force=true",
    undefined,
    { scope: SHOP },
  );
  deepEqual([status, body.error], [403, "Containers that this token cannot access depend on web"]);
});

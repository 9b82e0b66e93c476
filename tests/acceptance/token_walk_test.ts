/**
 * Calls every endpoint of every edition with API tokens that are limited to stacks or containers, and
 * with tokens of one permission: no answer, stream, export or message may mention a container outside
 * of the token's scope. Endpoints of later versions are included.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { insertJob, type Job, selectJobs } from "../../db/jobs.ts";
import { insertScheduleRun, updateScheduleRunEnd } from "../../db/schedule_runs.ts";
import { everyRoute } from "../../routes/editions.ts";
import { type Endpoint, permissionsOf } from "../../routes/contract/endpoint.ts";
import { permissionName, PERMISSIONS } from "../../services/access/permissions.ts";
import type { Scope } from "../../services/access/scope.ts";
import { forwardEvents } from "../../services/live/broadcaster.ts";
import { toView } from "../../services/jobs/view.ts";
import { broadcastStates } from "../../services/live/frames.ts";
import { emit } from "../../services/events/emit.ts";
import { type AppEvent, createEnvelope } from "../../services/events/events.ts";
import { EVENT_KIND_IDS } from "../../services/events/kinds/mod.ts";
import { composeLabels, idOf, simulateContainers } from "../helpers/fake_containers.ts";
import { type FakeEngine, fakeEngine, outputFrame } from "../helpers/fake_engine.ts";
import { long } from "../helpers/long.ts";
import { sseClient } from "../helpers/sse_client.ts";
import { type Answer, type TestApp, testApp } from "../helpers/test_app.ts";
import { everyEndpoint, rightRequest, type Walked } from "./endpoint_walk.ts";

/** Names everything that belongs to the other container: its stack, image, volume, network, records. */
const FOREIGN = "zqforeign";

/** Does not exist, and is as long. */
const UNKNOWN = "zqunknown";

const FOREIGN_IMAGE = `sha256:${"f0".repeat(32)}`;
const OWN_IMAGE = `sha256:${"a0".repeat(32)}`;

/** Everything by which the other container can be recognized. */
const TRACES = [FOREIGN, idOf(FOREIGN).slice(0, 12), FOREIGN_IMAGE.slice(7, 19)];

const SCOPES: Record<string, Partial<Scope>> = {
  "a stack": { stacks: ["shop"] },
  "a pattern of containers": { containers: ["web*"] },
  "a stack and a container": { stacks: ["sh*"], containers: ["web"] },
};

/** Endpoints without a JSON request, or whose work needs another system. */
const SKIPPED = /\/(test|poll|check|recalculate|load|terminal|attach)$|^POST \/auth|\/(sso|mtls)\//;

function engine(): FakeEngine {
  const projectOf = (name: string) => ({
    "com.docker.compose.project": name === FOREIGN ? FOREIGN : "shop",
  });
  const volume = (Name: string) => ({
    Name,
    Driver: "local",
    Mountpoint: `/v/${Name}`,
    Scope: "local",
    CreatedAt: "2026-01-01T12:00:00Z",
    Options: null,
    Labels: projectOf(Name),
  });
  // The other container is on the network of the own one, and uses its volume.
  const network = (Name: string) => ({
    Id: Name,
    Created: "2026-01-01T12:00:00Z",
    Internal: false,
    IPAM: { Config: [{ Subnet: "192.0.2.0/24" }] },
    Containers: Object.fromEntries(
      ["web", FOREIGN].map((name) => [idOf(name), { Name: name, EndpointID: `ep-${name}` }]),
    ),
    Name,
    Driver: "bridge",
    Scope: "local",
    Labels: projectOf(Name),
  });
  const labelled = <Part extends { Labels: Record<string, string> }>(
    query: URLSearchParams,
    parts: Part[],
  ) => parts.filter(({ Labels }) => hasLabels(query, Labels));
  const image = (Id: string, name: string) => ({
    Id,
    // The own image has a name of the other stack, too.
    RepoTags: [name, `${FOREIGN}/alias:1`],
    RepoDigests: [`${FOREIGN}/alias@${OWN_IMAGE}`],
    Created: 1,
    Size: 7,
    Labels: {},
  });
  const containers = simulateContainers([
    {
      name: "web",
      labels: composeLabels("shop", "web"),
      image: "shop/web:1",
      imageId: OWN_IMAGE,
      volumes: ["shop_data"],
      networks: ["shop_default"],
    },
    {
      name: FOREIGN,
      labels: composeLabels(FOREIGN, FOREIGN),
      image: FOREIGN,
      imageId: FOREIGN_IMAGE,
      volumes: [FOREIGN, "shop_data"],
      networks: [FOREIGN, "shop_default"],
    },
  ]);
  return fakeEngine({
    ...containers,
    "GET /containers/*/json": async (request) => {
      const answer = await containers["GET /containers/*/json"]!(request);
      const inspect = await answer.json();
      return Response.json(
        inspect.Name === "/web" ? usingForeign(inspect) : inspect,
        { status: answer.status },
      );
    },
    "GET /containers/json": ({ query }) =>
      Response.json(
        ["web", FOREIGN].filter((name) => hasLabels(query, projectOf(name)))
          .map((name) => ({ Id: idOf(name), Names: [`/${name}`] })),
      ),
    "GET /containers/*/logs": ({ parts }) =>
      new Response(outputFrame(
        "stdout",
        `2026-01-01T12:00:00Z ${parts[0] === idOf(FOREIGN) ? FOREIGN : "own line"}\n`,
      )),
    "GET /containers/*/top": () => Response.json({ Titles: ["PID"], Processes: [["1"]] }),
    "GET /containers/*/changes": () => Response.json([{ Path: "/etc", Kind: 0 }]),
    "GET /info": () => Response.json({}),
    ...Object.fromEntries(
      ["pause", "unpause", "kill"].map((action) => [
        `POST /containers/*/${action}`,
        () => new Response(null, { status: 204 }),
      ]),
    ),
    "GET /images/json": () =>
      Response.json([image(OWN_IMAGE, "shop/web:1"), image(FOREIGN_IMAGE, `${FOREIGN}:latest`)]),
    "GET /images/*/json": ({ parts }) => {
      const isForeign = /zqforeign|f0f0/.test(parts[0]!);
      if (!isForeign && !/a0a0|shop/.test(parts[0]!)) {
        return Response.json({ message: `No such image: ${parts[0]}` }, { status: 404 });
      }
      return Response.json({
        ...(isForeign ? image(FOREIGN_IMAGE, FOREIGN) : image(OWN_IMAGE, "shop/web:1")),
        Created: "2026-01-01T12:00:00Z",
        Config: {},
      });
    },
    "GET /images/*/history": () => Response.json([]),
    "GET /networks": ({ query }) =>
      Response.json(labelled(query, [network("shop_default"), network(FOREIGN)])),
    "GET /networks/*": ({ parts }) => Response.json(network(parts[0]!)),
    "GET /volumes": ({ query }) =>
      Response.json({ Volumes: labelled(query, [volume("shop_data"), volume(FOREIGN)]) }),
    "GET /volumes/*": ({ parts }) => Response.json(volume(parts[0]!)),
  });
}

/** The description of a container in namespaces of the other one, to which it is linked. */
// deno-lint-ignore no-explicit-any
function usingForeign(inspect: any) {
  const id = idOf(FOREIGN);
  const mode = `container:${id}`;
  const directory = `/var/lib/docker/containers/${id}`;
  return {
    ...inspect,
    HostsPath: `${directory}/hosts`,
    HostnamePath: `${directory}/hostname`,
    ResolvConfPath: `${directory}/resolv.conf`,
    Config: { ...inspect.Config, Hostname: id.slice(0, 12) },
    HostConfig: {
      ...inspect.HostConfig,
      NetworkMode: mode,
      IpcMode: mode,
      PidMode: mode,
      Links: [`/${FOREIGN}:/web/db`],
      VolumesFrom: [id],
    },
  };
}

/** Whether an object has the labels that a list is filtered by, each as `name=value`. */
function hasLabels(query: URLSearchParams, labels: Record<string, string> = {}): boolean {
  const { label = [] } = JSON.parse(query.get("filters") ?? "{}");
  // The engine accepts a list, and a map from the entries to `true`.
  const wanted: string[] = Array.isArray(label) ? label : Object.keys(label);
  return wanted.every((entry) => {
    const [name = "", value] = entry.split("=");
    return value === undefined ? Object.hasOwn(labels, name) : labels[name] === value;
  });
}

/** Public endpoints treat a token with limits as no token. */
async function guardedEndpoints(
  { deps }: TestApp,
): Promise<(Walked & { permissions: readonly string[]; isOpen: boolean })[]> {
  const contracts = new Map<string, Endpoint>(
    (await everyRoute(deps)).flatMap(({ prefix, endpoints }) =>
      endpoints.map((contract) => {
        const path = (prefix + contract.path).replace(/(.)\/$/, "$1").replace(/\{[^}]*\}/, "");
        return [`${contract.method.toUpperCase()} ${path}`, contract] as const;
      })
    ),
  );
  return (await everyEndpoint(deps)).flatMap((walked) => {
    const name = `${walked.method} ${walked.pattern}`;
    const contract = contracts.get(name)!;
    if (contract.role === "public" || SKIPPED.test(name)) return [];
    const permissions = permissionsOf(contract);
    return [{
      ...walked,
      permissions,
      isOpen: permissions.length === 0 && contract.scope === "open",
    }];
  });
}

/** A service in which every record that a request can create mentions the other container. */
async function seeded(fake: FakeEngine): Promise<{ app: TestApp; ids: Map<string, string> }> {
  const app = testApp({ edition: "enterprise", engine: fake.engine, now: "2026-01-01T12:00:00Z" });
  await app.call("GET", "/api/containers");
  app.deps.inventory.setLive(true);
  const ids = new Map<string, string>();
  const creations = (await everyEndpoint(app.deps)).filter(({ method, pattern, body }) =>
    method === "POST" && body && !SKIPPED.test(`${method} ${pattern}`) &&
    !/\/(deploy|down)$/.test(pattern)
  );
  for (const walked of creations) {
    const { pattern, body } = walked;
    // The name of a schedule belongs to its own container.
    const examples = variants(body!.example)
      .filter(({ name, containerName }) => name !== FOREIGN || containerName !== "web");
    for (const each of [...examples, body!.example]) {
      // A job of the operator would go on beside the requests of the token.
      const example = pattern === "/api/stacks" ? { ...each, deploy: false } : each;
      const { path, ...request } = rightRequest(walked, example);
      const { status, body: created } = await app.call(
        "POST",
        filled(path, ids),
        "body" in request ? request.body : undefined,
        { headers: request.headers ?? {} },
      );
      if (status === 201 && typeof created?.id === "string") ids.set(pattern, created.id);
    }
  }
  ids.set("/api/jobs", seedRecords(app));
  return { app, ids };
}

/** The example with the name in all texts, and in each text alone, because some have a form. */
function variants(example: Record<string, unknown>): Record<string, unknown>[] {
  const alone = Object.entries(example).flatMap(([field, value]) =>
    typeof value === "string" ? [{ ...example, [field]: FOREIGN }] : []
  );
  const all = Object.entries(example).map(([field, value]) => [
    field,
    typeof value === "string" ? FOREIGN : value,
  ]);
  return [Object.fromEntries(all), ...alone];
}

/** Records that the service itself makes. @returns The id of a job on the own container. */
function seedRecords({ deps }: TestApp): string {
  const at = "2026-01-01T12:00:00.000Z";
  const run = {
    id: crypto.randomUUID(),
    scheduleId: "s",
    scheduleName: FOREIGN,
    containerId: idOf(FOREIGN),
    containerName: FOREIGN,
    kind: "container",
    action: "restart",
    stack: null,
    subject: FOREIGN,
    jobId: null,
    startedAt: at,
  };
  insertScheduleRun(deps.db, { ...run, dueAt: at });
  updateScheduleRunEnd(deps.db, { ...run, finishedAt: at, status: "failure", error: FOREIGN });
  const targets: Pick<Job, "targetType" | "target" | "stack">[] = [
    { targetType: "container", target: FOREIGN, stack: FOREIGN },
    { targetType: "stack", target: FOREIGN, stack: null },
    { targetType: "image", target: FOREIGN, stack: null },
    { targetType: "container", target: "web", stack: "shop" },
  ];
  const jobs = targets.map((target): Job => ({
    ...target,
    id: crypto.randomUUID(),
    kind: "container.update",
    status: "failed",
    progress: { current: 1, total: 2, message: FOREIGN },
    steps: [{ name: "start", status: "failed", startedAt: at, endedAt: at, message: FOREIGN }],
    input: {},
    error: FOREIGN,
    result: { dependents: [FOREIGN] },
    createdBy: "key",
    tokenId: null,
    createdAt: at,
    startedAt: at,
    endedAt: at,
  }));
  for (const job of jobs) insertJob(deps.db, job);
  return jobs.at(-1)!.id;
}

/** The path with the ids of created records in place of its parameters. */
function filled(path: string, ids: ReadonlyMap<string, string>): string {
  return path.replace(/:\w+/g, (_, at: number) => {
    const collection = path.slice(0, at).replace(/\/$/, "");
    return ids.get(collection) ?? "x";
  });
}

const textOf = ({ body }: Answer) => typeof body === "string" ? body : JSON.stringify(body) ?? "";
const tracesIn = (text: string) => TRACES.filter((trace) => text.includes(trace));

/** Sends the example of the documentation, with other values in the place of some. */
async function ask(
  app: TestApp,
  walked: Walked,
  { path, name, scope }: { path: string; name?: string; scope: Partial<Scope> },
): Promise<Answer> {
  const { produces, query, body } = walked;
  const text = name === undefined ? "" : query.map((each) => `${each}=${name}`).join("&");
  const example = body && name !== undefined ? variants(body.example)[0] : body?.example;
  const given = JSON.stringify(example)?.replaceAll(FOREIGN, name ?? FOREIGN);
  const response = await app.fetch(
    walked.method,
    text ? `${path}?${text}` : path,
    given,
    { scope, ...(body && { headers: { "content-type": body.type } }) },
  );
  const { status, headers } = response;
  // A stream ends only with the connection.
  if (produces === "text/event-stream" && status === 200) {
    await response.body!.cancel();
    return { status, headers, body: "" };
  }
  const content = await response.text();
  return { status, headers, body: content };
}

for (const [what, scope] of Object.entries(SCOPES)) {
  // Both kinds of limits together show the same for each.
  const test = what === "a pattern of containers" ? long(Deno.test) : Deno.test;

  test(`a token limited to ${what} learns nothing of other containers from any endpoint`, async () => {
    await using fake = engine();
    const { app, ids } = await seeded(fake);
    using _ = app;
    const own = new Map([
      ...ids,
      ["/api/containers", "web"],
      ["/api/images", OWN_IMAGE],
      ["/api/networks", "shop_default"],
      ["/api/stacks", "shop"],
      ["/api/volumes", "shop_data"],
    ]);
    fake.requests.length = 0;
    const leaks: string[] = [];
    let answered = 0;
    for (const walked of await guardedEndpoints(app)) {
      const { method, pattern } = walked;
      const name = `${method} ${pattern}`;

      const plain = await ask(app, walked, { path: filled(pattern, own), scope });
      if (plain.status < 300) answered++;
      for (const trace of tracesIn(textOf(plain))) leaks.push(`${name}: ${trace}`);

      // An existing object elsewhere is answered like one that does not exist.
      if (!pattern.includes(":") && walked.query.length === 0 && !walked.body) continue;
      const [foreign, unknown] = await Promise.all([FOREIGN, UNKNOWN].map(async (given) => {
        const path = pattern.replace(/:\w+/g, given);
        const answer = await ask(app, walked, { path, name: given, scope });
        return `${answer.status} ${textOf(answer).replaceAll(given, "NAME")}`;
      }));
      if (foreign !== unknown) leaks.push(`${name}: ${foreign} | ${unknown}`.slice(0, 500));
    }

    deepEqual(leaks, []);
    ok(answered > 35, `${answered} endpoints`);
    const touched = fake.requests.filter((request) =>
      !request.startsWith("GET ") && tracesIn(request).length > 0
    );
    deepEqual(touched, []);
  });

  test(`a token limited to ${what} learns nothing of other containers from the event stream`, async () => {
    await using fake = engine();
    const { app } = await seeded(fake);
    using _ = app;
    const end = new AbortController();
    const forwarding = forwardEvents(app.deps, end.signal);
    const { body } = await app.fetch("GET", "/api/stream", undefined, { scope });
    const client = sseClient(body as ReadableStream<Uint8Array<ArrayBuffer>>);
    for (const kind of EVENT_KIND_IDS) {
      const about = { container: FOREIGN, id: idOf(FOREIGN), jobId: FOREIGN };
      const data = { ...about, rule: FOREIGN, message: FOREIGN };
      app.deps.events.publish({ ...createEnvelope(app.deps), event: kind, data } as AppEvent);
    }
    for (const job of selectJobs(app.deps.db, {}, { limit: 10 })) {
      app.deps.stream.publish("job", toView(job));
      const data = { container: job.target, id: "", image: "", digest: null, jobId: job.id };
      emit(app.deps, "update.failed", { ...data, reason: FOREIGN });
    }
    await broadcastStates(app.deps);
    emit(app.deps, "container.up", { container: "web", id: idOf("web") });

    const frames: { type: string; data: { target?: string; event?: string } }[] = [];
    for (let frame = await client.next(); frame; frame = await client.next()) {
      frames.push(frame);
      if (frame.data?.data?.container === "web") break;
    }
    deepEqual(tracesIn(JSON.stringify(frames)), []);
    deepEqual(frames.filter(({ type }) => type === "job").map(({ data }) => data.target), ["web"]);
    equal(frames.filter(({ data }) => data?.event === "update.failed").length, 1);
    await client.cancel();
    end.abort();
    await forwarding;
  });
}

Deno.test("a token of all other permissions is refused by every endpoint, and learns nothing", async () => {
  await using fake = engine();
  const { app, ids } = await seeded(fake);
  using _ = app;
  const wrong: string[] = [];
  const own = new Map([...ids, ["/api/containers", FOREIGN], ["/api/stacks", FOREIGN]]);
  for (const each of await guardedEndpoints(app)) {
    if (each.isOpen) continue;
    const permissions = PERMISSIONS.map(permissionName)
      .filter((permission) => !each.permissions.includes(permission));
    const answer = await ask(app, each, {
      path: filled(each.pattern, own),
      scope: { permissions },
    });
    const traces = tracesIn(textOf(answer));
    if (answer.status !== 403 || traces.length > 0) {
      wrong.push(`${each.method} ${each.pattern}: ${answer.status} ${traces}`);
    }
  }
  deepEqual(wrong, []);
});

Deno.test("without limits, the same requests show the other container in many places", async () => {
  await using fake = engine();
  const { app, ids } = await seeded(fake);
  using _ = app;
  let shown = 0;
  for (const walked of (await guardedEndpoints(app)).filter(({ method }) => method === "GET")) {
    const answer = await ask(app, walked, { path: filled(walked.pattern, ids), scope: {} });
    if (tracesIn(textOf(answer)).length > 0) shown++;
  }
  ok(shown > 25, `${shown} endpoints`);
});

for (
  const { path, expected } of [
    { path: "/api/containers/web/logs/stream", expected: 200 },
    { path: "/api/stacks/shop/logs/stream", expected: 200 },
    { path: "/api/logs/stream?container=web", expected: 200 },
    { path: `/api/logs/stream?container=web&container=${FOREIGN}`, expected: 404 },
    { path: `/api/logs/stream?container=${idOf(FOREIGN).slice(0, 12)}`, expected: 404 },
  ]
) {
  Deno.test(`${path} answers ${expected} to a limited token, with its own lines only`, async () => {
    await using fake = engine();
    const { app } = await seeded(fake);
    using _ = app;
    const { status, body } = await app.fetch("GET", path, undefined, { scope: SCOPES["a stack"] });
    const reader = body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      text += read.value;
      if (text.includes("own line")) break;
    }
    await reader.cancel();
    deepEqual([status, text.includes("own line")], [expected, expected === 200]);
    deepEqual(fake.requests.filter((each) => each.includes(`${idOf(FOREIGN)}/logs`)), []);
  });
}

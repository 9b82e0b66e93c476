import { deepEqual, equal, match } from "node:assert/strict";
import { selectContainerSeries, upsertContainerSeries } from "../../../db/container_samples.ts";
import { LOCAL_HOST } from "../../../db/host_id.ts";
import {
  containerOf,
  idOf,
  setContainers,
  simulateContainers,
} from "../../helpers/fake_containers.ts";
import { type FakeAnswer, type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const SELF = "longshore";
const self = { id: idOf(SELF), hostname: null };
const C = "/api/containers";

/** Requests that change a container, with a valid body. */
const WRITES = [
  ["POST", "pause"],
  ["POST", "kill"],
  ["POST", "rename", { name: "other" }],
  ["PUT", "limits", { pidsLimit: 10 }],
  ["DELETE", "?force=true"],
] as const;

const pathOf = (ref: string, action: string) =>
  `${C}/${ref}${action.startsWith("?") ? "" : "/"}${action}`;

const writesOf = ({ requests }: FakeEngine) => requests.filter((each) => !each.startsWith("GET"));

const failure = (status: number, message: string): FakeAnswer => () =>
  Response.json({ message }, { status });

for (const [method, action, body] of WRITES) {
  for (const ref of [idOf(SELF), idOf(SELF).slice(0, 12), SELF]) {
    Deno.test(`${method} ${action} refuses the service's own container by ${ref.slice(0, 14)}`, async () => {
      await using fake = fakeEngine(simulateContainers([{ name: SELF }]));
      using app = testApp({ engine: fake.engine, self });
      const answer = await app.call(method, pathOf(ref, action), body);
      equal(answer.status, 409);
      match(answer.body.error, /^longshore is the service's own container and cannot be \w+$/);
      deepEqual(writesOf(fake), []);
    });
  }

  Deno.test(`${method} ${action} is 409 while another action is in progress`, async () => {
    await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
    using app = testApp({ engine: fake.engine });
    using _ = app.deps.reservations.reserve({ id: idOf("web"), name: "web" }, "rebuilt");
    const answer = await app.call(method, pathOf("web", action), body);
    deepEqual([answer.status, answer.body.error], [409, "web is being rebuilt"]);
    deepEqual(writesOf(fake), []);
  });

  Deno.test(`${method} ${action} of an unknown container is 404`, async () => {
    await using fake = fakeEngine(simulateContainers([]));
    using app = testApp({ engine: fake.engine });
    const answer = await app.call(method, pathOf("web", action), body);
    deepEqual([answer.status, answer.body.error], [404, "Container web does not exist"]);
  });

  for (const ref of ["..%2Fimages%2Fx", "a%2Fb", "a%0Ab", "a%00", "x".repeat(256)]) {
    Deno.test(`${method} ${action} of ${ref.slice(0, 20)} sends no request to the engine`, async () => {
      await using fake = fakeEngine();
      using app = testApp({ engine: fake.engine });
      equal((await app.call(method, pathOf(ref, action), body)).status, 400);
      deepEqual(fake.requests, []);
    });
  }
}

for (const [method, action] of [["POST", "pause"], ["POST", "kill"], ["DELETE", "?force=true"]]) {
  Deno.test(`${method} ${action} refuses a container whose network the service uses`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine, self });
    setContainers(app, { name: "vpn" }, { name: SELF, self: true, shares: [idOf("vpn")] });
    const { status, body } = await app.call(method!, pathOf("vpn", action!));
    equal(status, 409);
    match(body.error, /^vpn cannot be \w+: the service's own container longshore depends on it$/);
    deepEqual(fake.requests, []);
  });
}

Deno.test("DELETE names the containers that share a namespace, and force ignores them", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([]),
    "DELETE /containers/*": () => new Response(null, { status: 204 }),
  });
  using app = testApp({ engine: fake.engine });
  const vpn = containerOf({ name: "vpn", state: "exited" });
  const sharer = (name: string) => containerOf({ name, shares: [vpn.id], state: "exited" });
  setContainers(app, vpn, sharer("one"), sharer("two"));
  const refused = await app.call("DELETE", `${C}/vpn`);
  equal(refused.status, 409);
  match(refused.body.error, /^(one, two|two, one) cannot run without container vpn; remove them /);
  deepEqual(writesOf(fake), []);

  const { status, body } = await app.call("DELETE", `${C}/vpn?force=true&volumes=true`);
  deepEqual([status, body], [200, { ok: true, id: vpn.id, name: "vpn" }]);
  deepEqual(writesOf(fake), [`DELETE /containers/${vpn.id}?force=true&v=true`]);
  equal((await app.call("GET", C)).body.containers.length, 2);
});

Deno.test("an action on a container reserves those that share its namespaces", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  const [web, side] = [
    containerOf({ name: "web" }),
    containerOf({ name: "side", shares: [idOf("web")] }),
  ];
  setContainers(app, web, side);
  let during = "";
  fake.answers["POST /containers/*/pause"] = async () => {
    during = (await app.call("POST", `${C}/side/stop`)).body.error;
    return new Response(null, { status: 204 });
  };
  await app.call("POST", `${C}/web/pause`);
  equal(during, "web is being paused, which also affects side");
});

for (
  const signal of ["", "A B", "SIGKILL\n", "../x", "0", "65", "-1", "X".repeat(20), 9, null]
) {
  Deno.test(`POST kill refuses the signal ${JSON.stringify(signal)}`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });
    const { status, body } = await app.call("POST", `${C}/web/kill`, { signal });
    equal(status, 400);
    match(body.error, /^body\.signal: /);
    deepEqual(fake.requests, []);
  });
}

Deno.test("POST kill sends SIGKILL, or the signal of the request", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "POST /containers/*/kill": () => new Response(null, { status: 204 }),
  });
  using app = testApp({ engine: fake.engine });
  await app.call("POST", `${C}/web/kill`);
  for (const signal of ["HUP", "sigusr1", "9", "SIGRTMIN+3"]) {
    equal((await app.call("POST", `${C}/web/kill`, { signal })).status, 200, signal);
  }
  deepEqual(writesOf(fake).map((each) => each.split("signal=")[1]), [
    "SIGKILL",
    "HUP",
    "sigusr1",
    "9",
    "SIGRTMIN%2B3",
  ]);
});

for (
  const [status, message] of [
    [400, "Invalid signal: SIGFOO"],
    [500, "invalid signal: SIGFOO"],
    [500, "Cannot kill container: web: The linux daemon does not support signal 40"],
  ] as const
) {
  Deno.test(`POST kill is 400 when the engine answers ${status} ${message}`, async () => {
    await using fake = fakeEngine({
      ...simulateContainers([{ name: "web" }]),
      "POST /containers/*/kill": failure(status, message),
    });
    using app = testApp({ engine: fake.engine });
    const { status: own, body } = await app.call("POST", `${C}/web/kill`, { signal: "SIGFOO" });
    deepEqual([own, body.error], [400, "body.signal: unknown signal SIGFOO"]);
  });
}

for (
  const name of [
    "",
    "x",
    "-x",
    "a b",
    "a/b",
    "/web",
    "web\n",
    "../web",
    "wéb",
    "x".repeat(256),
    "0123456789ab",
    "a".repeat(64),
    "web-longshore-old-running-0123456789ab",
  ]
) {
  Deno.test(`POST rename refuses ${JSON.stringify(name).slice(0, 50)}`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });
    const { status, body } = await app.call("POST", `${C}/web/rename`, { name });
    equal(status, 400);
    match(body.error, /^body\.name: /);
    deepEqual(fake.requests, []);
  });
}

Deno.test("POST rename does not take the name of a container that is being rebuilt", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  using _ = app.deps.reservations.reserve({ id: idOf("shop"), name: "shop" }, "rebuilt");
  const { status, body } = await app.call("POST", `${C}/web/rename`, { name: "shop" });
  deepEqual([status, body.error], [409, "shop is being rebuilt"]);
  deepEqual(writesOf(fake), []);
});

Deno.test("POST rename keeps the metrics history, unless the new name has its own", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }]),
    "POST /containers/*/rename": () => new Response(null, { status: 204 }),
  });
  using app = testApp({ engine: fake.engine });
  const { metrics } = app.deps;
  const add = (name: string) => upsertContainerSeries(metrics, { hostId: LOCAL_HOST, name, ts: 1 });
  const find = (name: string) => selectContainerSeries(metrics, { hostId: LOCAL_HOST, name });
  const [web, used] = [add("web"), add("used")];
  const rename = async (name: string) =>
    equal((await app.call("POST", `${C}/web/rename`, { name })).status, 200);
  await rename("used");
  deepEqual([find("web"), find("used")], [web, used]);
  await rename("free");
  deepEqual([find("web"), find("free")], [undefined, web]);
});

for (
  const { what, limits, error } of [
    { what: "no field", limits: {}, error: /^body: must have at least one field$/ },
    { what: "no cores", limits: { cpus: 0 }, error: /^body\.cpus: / },
    { what: "infinite cores", limits: '{"cpus":1e999}', error: /^body\.cpus: / },
    { what: "negative memory", limits: { memoryBytes: -1 }, error: /^body\.memoryBytes: / },
    { what: "a fraction of a byte", limits: { memoryBytes: 1e9 + 0.5 }, error: /memoryBytes: / },
    { what: "memory beyond 2^53", limits: { memoryBytes: 2 ** 60 }, error: /memoryBytes: / },
    { what: "swap of -2", limits: { memorySwapBytes: -2 }, error: /^body\.memorySwapBytes: / },
    { what: "no processes", limits: { pidsLimit: 0 }, error: /^body\.pidsLimit: / },
    {
      what: "an unknown policy",
      limits: { restartPolicy: { name: "x" } },
      error: /Policy\.name: /,
    },
    {
      what: "a total below the memory",
      limits: { memoryBytes: 64e6, memorySwapBytes: 32e6 },
      error: /^body\.memorySwapBytes: must be at least the memory limit \(64000000\)/,
    },
    {
      what: "swap without a memory limit",
      limits: { memorySwapBytes: 64e6 },
      error: /^body\.memorySwapBytes: requires a memory limit$/,
    },
    {
      what: "retries of another policy",
      limits: { restartPolicy: { name: "always", maximumRetryCount: 3 } },
      error: /^body\.restartPolicy\.maximumRetryCount: only the policy on-failure has one$/,
    },
  ]
) {
  Deno.test(`PUT limits refuses ${what}`, async () => {
    await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
    using app = testApp({ engine: fake.engine });
    const { status, body } = await app.call("PUT", `${C}/web/limits`, limits, {
      headers: { "content-type": "application/json" },
    });
    equal(status, 400);
    match(body.error, error);
    deepEqual(writesOf(fake), []);
  });
}

for (
  const [before, limits, sent] of [
    [{}, { cpus: 1.5 }, { NanoCpus: 1_500_000_000 }],
    [
      { CpuQuota: 20_000, CpuPeriod: 50_000 },
      { cpus: 1.5 },
      { CpuPeriod: 50_000, CpuQuota: 75_000 },
    ],
    [{}, { memoryBytes: 64e6 }, { Memory: 64e6, MemorySwap: 128e6 }],
    [{ Memory: 10e6, MemorySwap: 15e6 }, { memoryBytes: 64e6 }, { Memory: 64e6, MemorySwap: 69e6 }],
    [{ Memory: 10e6, MemorySwap: -1 }, { memoryBytes: 64e6 }, { Memory: 64e6, MemorySwap: -1 }],
    [{ Memory: 10e6, MemorySwap: 15e6 }, { memorySwapBytes: -1 }, { Memory: 10e6, MemorySwap: -1 }],
    [{}, { pidsLimit: -1 }, { PidsLimit: -1 }],
    [
      {},
      { restartPolicy: { name: "on-failure", maximumRetryCount: 3 } },
      { RestartPolicy: { Name: "on-failure", MaximumRetryCount: 3 } },
    ],
  ] as const
) {
  Deno.test(`PUT limits ${JSON.stringify(limits)} after ${JSON.stringify(before)} changes only that`, async () => {
    const bodies: unknown[] = [];
    const answers = simulateContainers([{ name: "web" }]);
    const describe = answers["GET /containers/*/json"]!;
    await using fake = fakeEngine({
      ...answers,
      "GET /containers/*/json": async (request) => {
        const inspect = await (await describe(request)).json();
        return Response.json({ ...inspect, HostConfig: { ...inspect.HostConfig, ...before } });
      },
      "POST /containers/*/update": ({ body }) => {
        bodies.push(body);
        return Response.json({ Warnings: null });
      },
    });
    using app = testApp({ engine: fake.engine });
    equal((await app.call("PUT", `${C}/web/limits`, limits)).status, 200);
    deepEqual(bodies, [sent]);
  });
}

Deno.test("PUT limits is 409 if the kernel refuses, or the engine has no such operation", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine });
  for (
    const [status, message, error] of [
      [500, "runc: device or resource busy", "runc: device or resource busy"],
      [404, "Not Found", "This engine cannot change the limits of a container"],
    ] as const
  ) {
    fake.answers["POST /containers/*/update"] = failure(status, message);
    const { status: own, body } = await app.call("PUT", `${C}/web/limits`, { pidsLimit: 5 });
    deepEqual([own, body.error], [409, error]);
  }
});

Deno.test("GET inspect shows the engine's answer, and values that may be passwords only to admins", async () => {
  const answers = simulateContainers([{ name: "web" }]);
  const describe = answers["GET /containers/*/json"]!;
  const secrets = {
    Config: { Env: ["PASSWORD=one=\ntwo", "EMPTY=", "UNSET"], Labels: { a: "b" } },
    HostConfig: {
      LogConfig: { Type: "splunk", Config: { "splunk-token": "three" } },
      Mounts: [
        { Type: "bind", Source: "/srv", Target: "/srv" },
        {
          Type: "volume",
          Target: "/share",
          VolumeOptions: { DriverConfig: { Name: "local", Options: { o: "password=four" } } },
        },
      ],
    },
    NewField: { kept: [1, null] },
  };
  await using fake = fakeEngine({
    ...answers,
    "GET /containers/*/json": async (request) =>
      Response.json({ ...await (await describe(request)).json(), ...secrets }),
  });
  using app = testApp({ engine: fake.engine });
  const inspect = async (role: "viewer" | "operator" | "admin") =>
    (await app.call("GET", `${C}/web/inspect`, undefined, { role })).body;

  const { Id, Config, HostConfig, NewField } = await inspect("admin");
  equal(Id, idOf("web"));
  deepEqual({ Config, HostConfig, NewField }, secrets);
  for (const role of ["viewer", "operator"] as const) {
    const shown = await inspect(role);
    deepEqual(shown.Config, {
      Env: ["PASSWORD=********", "EMPTY=********", "UNSET"],
      Labels: { a: "b" },
    });
    deepEqual(shown.HostConfig.LogConfig.Config, { "splunk-token": "********" });
    deepEqual(shown.HostConfig.Mounts[0], secrets.HostConfig.Mounts[0]);
    deepEqual(shown.HostConfig.Mounts[1].VolumeOptions.DriverConfig, {
      Name: "local",
      Options: { o: "********" },
    });
    deepEqual(shown.NewField, secrets.NewField);
  }
});

Deno.test("GET changes lists files by path in pages", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web" }, { name: "new" }]),
    [`GET /containers/${idOf("new")}/changes`]: () => Response.json(null),
    "GET /containers/*/changes": () =>
      Response.json([
        { Path: "/www", Kind: 2 },
        { Path: "/etc", Kind: 0 },
        { Path: "/etc/new", Kind: 1 },
      ]),
  });
  using app = testApp({ engine: fake.engine });
  const list = async (path: string) =>
    (await app.call("GET", `${C}/${path}`, undefined, { role: "viewer" })).body;
  const changes = [
    { path: "/etc", kind: "modified" },
    { path: "/etc/new", kind: "added" },
    { path: "/www", kind: "deleted" },
  ];
  deepEqual(await list("web/changes"), { changes, total: 3, limit: 1_000, offset: 0 });
  deepEqual((await list("web/changes?limit=1&offset=1")).changes, [changes[1]]);
  deepEqual((await list("new/changes")).changes, []);
  equal((await app.call("GET", `${C}/web/changes?limit=10001`)).status, 400);
});

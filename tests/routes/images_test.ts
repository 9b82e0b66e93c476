import { deepEqual, equal, match } from "node:assert/strict";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

const ID = `sha256:${"a".repeat(64)}`;

Deno.test("GET /api/images lists images and answers 304 to a client with a current copy", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", imageId: ID }]),
    "GET /images/json": () =>
      Response.json([{ Id: ID, RepoTags: ["app:1"], Created: 1_760_000_000, Size: 7 }]),
  });
  using app = testApp({ engine: fake.engine });

  const { status, body, headers } = await app.call("GET", "/api/images", undefined, {
    role: "viewer",
  });

  equal(status, 200);
  deepEqual(body, {
    images: [{
      id: ID,
      repoTags: ["app:1"],
      repoDigests: [],
      size: 7,
      createdAt: "2025-10-09T08:53:20.000Z",
      created: "2025-10-09T08:53:20.000Z",
      containers: 1,
      dangling: false,
      warning: null,
    }],
  });
  const known = { "if-none-match": headers.get("etag")! };
  equal((await app.call("GET", "/api/images", undefined, { headers: known })).status, 304);
});

Deno.test("GET /api/images shows a creation time after the year 9999 as null", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([]),
    "GET /images/json": () =>
      Response.json([{ Id: ID, RepoTags: ["app:1"], Created: 253_402_318_799, Size: 7 }]),
  });
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/images");

  deepEqual([status, body.images[0].createdAt], [200, null]);
});

for (
  const { given, asked } of [
    { given: ID, asked: "/images/sha256%3A" + "a".repeat(64) },
    { given: encodeURIComponent(ID), asked: "/images/sha256%3A" + "a".repeat(64) },
    { given: "4f1ea0", asked: "/images/4f1ea0" },
    { given: "app:1", asked: "/images/app%3A1" },
    {
      given: "registry%3A5000%2Fteam%2Fapp%3A1",
      asked: "/images/registry%3A5000/team/app%3A1",
    },
  ]
) {
  Deno.test(`DELETE /api/images/${given.slice(0, 40)} removes that image`, async () => {
    await using fake = fakeEngine({
      [`DELETE ${asked}`]: () => Response.json([{ Untagged: "app:1" }, { Deleted: ID }]),
    });
    using app = testApp({ engine: fake.engine });

    const { status, body } = await app.call("DELETE", `/api/images/${given}`);

    equal(status, 200);
    deepEqual(body, { ok: true, deleted: [ID], untagged: ["app:1"] });
  });
}

for (
  const { given, status } of [
    { given: "..%2Fcontainers%2Fjson", status: 404 },
    { given: "%2E%2E%2Fcontainers%2Fx", status: 404 },
    { given: "a%2F..%2F..%2Fcontainers%2Fx", status: 404 },
    { given: "..%252Fcontainers%252Fx", status: 400 },
    { given: "a%3Fforce=1", status: 400 },
    { given: "a%23b", status: 400 },
    { given: "a%0D%0Ab", status: 400 },
    { given: "a%00b", status: 400 },
    { given: "a%5Cb", status: 400 },
    { given: "a%20b", status: 400 },
    { given: "x".repeat(513), status: 400 },
  ]
) {
  Deno.test(`DELETE /api/images/${given.slice(0, 40)} reaches no path of the engine`, async () => {
    await using fake = fakeEngine();
    using app = testApp({ engine: fake.engine });

    const answer = await app.call("DELETE", `/api/images/${given}`);

    equal(answer.status, status);
    equal(typeof answer.body.error, "string");
    deepEqual(fake.requests, []);
  });
}

Deno.test("DELETE /api/images/:id returns the engine's result", async () => {
  await using fake = fakeEngine({
    "DELETE /images/used": () =>
      Response.json({ message: "conflict: image is being used by 4f1e" }, { status: 409 }),
  });
  using app = testApp({ engine: fake.engine });

  const used = await app.call("DELETE", "/api/images/used");
  const unknown = await app.call("DELETE", "/api/images/unknown");

  deepEqual([used.status, used.body], [409, { error: "conflict: image is being used by 4f1e" }]);
  equal(unknown.status, 404);
});

Deno.test("DELETE /api/images/:id accepts force only as a boolean", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });

  const { body } = await app.call("DELETE", "/api/images/a?force=yes");
  equal(body.error, "query.force: must be true, false, 1 or 0");
});

Deno.test("POST /api/images/prune returns the reclaimed space", async () => {
  await using fake = fakeEngine({
    "POST /images/prune": () =>
      Response.json({
        ImagesDeleted: [{ Untagged: "app@sha256:1" }, { Deleted: ID }],
        SpaceReclaimed: 42,
      }),
  });
  using app = testApp({ engine: fake.engine });

  deepEqual((await app.call("POST", "/api/images/prune")).body, {
    SpaceReclaimed: 42,
    spaceReclaimed: 42,
    deleted: [ID],
    untagged: ["app@sha256:1"],
  });
});

Deno.test("images are deleted and pruned by admins only", async () => {
  using app = testApp();

  for (const role of ["viewer", "operator"] as const) {
    equal((await app.call("DELETE", "/api/images/a", undefined, { role })).status, 403);
    equal((await app.call("POST", "/api/images/prune", undefined, { role })).status, 403);
  }
});

Deno.test("without an engine the images are 503", async () => {
  using app = testApp();

  equal((await app.call("GET", "/api/images")).status, 503);
  equal((await app.call("DELETE", "/api/images/app:1")).status, 503);
  equal((await app.call("POST", "/api/images/prune")).status, 503);
});

/** Waits until a job has ended. */
async function endOf(app: TestApp, id: string) {
  return await until("the job has ended", async () => {
    const { body } = await app.call("GET", `/api/jobs/${id}`);
    return body.endedAt !== null && body;
  });
}

const lines = (...messages: unknown[]) =>
  new Response(messages.map((message) => `${JSON.stringify(message)}\r\n`).join(""));

Deno.test("POST /api/images/pull starts a job with progress and the pulled image", async () => {
  await using fake = fakeEngine({
    "POST /images/create": () =>
      lines(
        { status: "Downloading", id: "aa", progressDetail: { current: 3, total: 4 } },
        { status: "Pull complete", id: "aa" },
      ),
    "GET /images/*/json": () =>
      Response.json({ Id: ID, RepoTags: ["nginx:1"], RepoDigests: [`nginx@${ID}`] }),
  });
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("POST", "/api/images/pull", {
    image: "nginx:1",
    platform: "linux/arm64/v8",
  });
  deepEqual([status, body.kind, body.target], [202, "image.pull", "docker.io/library/nginx:1"]);
  const job = await endOf(app, body.id);
  deepEqual([job.status, job.result, job.progress], [
    "succeeded",
    { imageId: ID, repoDigests: [`nginx@${ID}`] },
    { current: 4, total: 4, message: "1 of 1 layers complete" },
  ]);
  equal(
    fake.requests[0],
    "POST /images/create?fromImage=nginx&tag=1&platform=linux%2Farm64%2Fv8",
  );
});

Deno.test("POST /api/images/pull reaches this host only for who may add registries", async () => {
  await using fake = fakeEngine({ "POST /images/create": () => lines({ status: "x" }) });
  using app = testApp({ engine: fake.engine });
  const pull = (permissions: string[]) =>
    app.call("POST", "/api/images/pull", { image: "127.0.0.1:22/x" }, { scope: { permissions } });

  const refused = await pull(["images:write"]);
  deepEqual(fake.requests, []);
  const started = await pull(["images:write", "registries:write"]);
  await endOf(app, started.body.id);

  deepEqual([refused.status, started.status], [400, 202]);
  match(refused.body.error, /^body\.image: 127\.0\.0\.1 is an address that this service may not/);
});

Deno.test("POST /api/images/pull refuses a second pull of the same image, however it is spelled", async () => {
  const gate = Promise.withResolvers<Response>();
  await using fake = fakeEngine({ "POST /images/create": () => gate.promise });
  using app = testApp({ engine: fake.engine });
  const pull = (image: string) => app.call("POST", "/api/images/pull", { image });

  const first = await pull("nginx");
  const second = await pull("index.docker.io/library/nginx:latest");
  deepEqual([second.status, second.body.error], [
    409,
    `Job ${first.body.id} (image.pull) on docker.io/library/nginx:latest has not finished yet`,
  ]);
  gate.resolve(lines({ errorDetail: { message: "toomanyrequests: pull rate limit" } }));
  const { status, error } = await endOf(app, first.body.id);
  deepEqual([status, error], [
    "failed",
    "Image nginx could not be pulled: toomanyrequests: pull rate limit",
  ]);
});

Deno.test("a cancelled pull closes the connection to the engine", async () => {
  await using fake = fakeEngine({
    "POST /images/create": ({ signal }) =>
      new Response(
        new ReadableStream({
          start: (controller) => signal.addEventListener("abort", () => controller.close()),
        }),
      ),
  });
  using app = testApp({ engine: fake.engine });
  const { id } = (await app.call("POST", "/api/images/pull", { image: "nginx" })).body;
  await until("the engine pulls", () => fake.requests.length === 1);

  equal((await app.call("POST", `/api/jobs/${id}/cancel`)).status, 202);

  equal((await endOf(app, id)).status, "cancelled");
  await until("the connection is closed", () => fake.open === 0);
});

for (
  const body of [
    {},
    { image: "" },
    { image: "Not A Reference" },
    { image: "a".repeat(513) },
    { image: "nginx", platform: "linux/arm64?x=y" },
    { image: "nginx", tag: "1" },
  ]
) {
  Deno.test(`POST /api/images/pull refuses ${JSON.stringify(body).slice(0, 60)}`, async () => {
    using app = testApp();
    equal((await app.call("POST", "/api/images/pull", body)).status, 400);
    deepEqual((await app.call("GET", "/api/jobs")).body.jobs, []);
  });
}

Deno.test("POST /api/images/load streams the body to the engine and lists the loaded images", async () => {
  let received = "";
  await using fake = fakeEngine({
    "POST /images/load": ({ text }) => {
      received = text;
      return lines({ stream: "Loaded image: app:1\n" });
    },
  });
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("POST", "/api/images/load", "an archive", {
    headers: { "content-type": "application/x-tar" },
  });

  deepEqual([status, body.images, received], [200, ["app:1"], "an archive"]);
  const job = (await app.call("GET", `/api/jobs/${body.job}`)).body;
  deepEqual([job.kind, job.status, job.result, job.progress.current], [
    "image.load",
    "succeeded",
    { images: ["app:1"] },
    10,
  ]);
  const { entries } = (await app.call("GET", "/api/audit?action=load")).body;
  deepEqual(entries[0].targets, ["app:1"]);
});

Deno.test("POST /api/images/load answers with the engine's reason", async () => {
  let message = "";
  await using fake = fakeEngine({ "POST /images/load": () => lines({ error: message }) });
  using app = testApp({ engine: fake.engine });
  const load = async () => {
    const { status, body } = await app.call("POST", "/api/images/load", "garbage", {
      headers: { "content-type": "application/gzip" },
    });
    return [status, body.error];
  };

  message = "archive/tar: invalid tar header";
  deepEqual(await load(), [400, `The archive cannot be loaded: ${message}`]);
  message = "write /var/lib/docker/x: no space left on device";
  deepEqual(await load(), [503, "The archive cannot be loaded: the disk of the engine is full"]);
  await fake.down();
  equal((await load())[0], 503);
});

Deno.test("POST /api/images/load refuses a large archive before and while it reads it", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine, config: { imageUploadMaxBytes: 5 } });
  const type = { "content-type": "application/x-tar" };

  const announced = await app.call("POST", "/api/images/load", "x", {
    headers: { ...type, "content-length": "6" },
  });
  deepEqual([announced.status, (await app.call("GET", "/api/jobs")).body.jobs], [413, []]);
  const { status, body } = await app.call("POST", "/api/images/load", "123456", { headers: type });
  deepEqual([status, body.error], [413, "The body is larger than 5 bytes"]);
  equal((await app.call("GET", "/api/jobs")).body.jobs[0].status, "failed");
  equal(
    (await app.call("POST", "/api/images/load", "x", { headers: { "content-type": "text/html" } }))
      .status,
    415,
  );
});

Deno.test("GET /api/images/:id/export streams the engine's archive, also with a ticket", async () => {
  await using fake = fakeEngine({
    "GET /images/team/app%3A1/get": () => new Response("an archive"),
  });
  using app = testApp({ engine: fake.engine });
  const { ticket } = (await app.call("POST", "/api/stream/ticket")).body;

  const { status, body, headers } = await app.call(
    "GET",
    `/api/images/team%2Fapp:1/export?ticket=${ticket}`,
    undefined,
    { role: "public" },
  );

  deepEqual([status, body], [200, "an archive"]);
  equal(headers.get("content-disposition"), 'attachment; filename="team_app_1.tar"');
  equal((await app.call("GET", "/api/images/unknown/export")).status, 404);
});

for (const name of ["-1", "UPPER", "team%2F-app", "app:-", "app@sha256:1", "%2E%2E"]) {
  Deno.test(`an image cannot have the name ${name}: 404 without a request to the engine`, async () => {
    await using fake = fakeEngine(simulateContainers([]));
    using app = testApp({ engine: fake.engine });
    for (
      const [method, path, body] of [
        ["GET", ""],
        ["GET", "/export"],
        ["DELETE", ""],
        ["POST", "/tag", { image: "app:2" }],
      ] as const
    ) {
      const { status } = await app.call(method, `/api/images/${name}${path}`, body);
      equal(status, 404, `${method} ${path}`);
    }
    deepEqual(fake.requests.filter((request) => request.includes("/images/")), []);
  });
}

Deno.test("a client that leaves an export frees its slot and the engine's connection", async () => {
  await using fake = fakeEngine({
    "GET /images/app/get": ({ signal }) =>
      new Response(
        new ReadableStream({
          start(controller) {
            controller.enqueue(new TextEncoder().encode("the beginning"));
            signal.addEventListener("abort", () => controller.close());
          },
        }),
      ),
  });
  using app = testApp({ engine: fake.engine });

  // One more than one caller may have at a time.
  for (let count = 0; count < 5; count++) {
    const response = await app.fetch("GET", "/api/images/app/export");
    const reader = response.body!.getReader();
    await reader.read();
    await reader.cancel();
  }
  await until("all connections are closed", () => fake.open === 0);

  const held = [];
  for (let count = 0; count < 4; count++) {
    held.push(await app.fetch("GET", "/api/images/app/export"));
  }
  equal((await app.call("GET", "/api/images/app/export")).status, 429);
  const scope = { permissions: ["images:export"] };
  held.push(await app.fetch("GET", "/api/images/app/export", undefined, { scope }));
  deepEqual(held.map(({ status }) => status), [200, 200, 200, 200, 200]);
  for (const { body } of held) await body!.cancel();
  equal((await app.call("GET", "/api/images/unknown/export")).status, 404);
  equal(app.deps.limiters.imageExports.taken, 0);
  await until("all connections are closed", () => fake.open === 0);
});

const DETAILS = {
  ...simulateContainers([{ name: "web", imageId: ID }, { name: "other" }]),
  "GET /images/app/json": () =>
    Response.json({
      Id: ID,
      RepoTags: ["app:1"],
      Created: "2026-01-01T00:00:00Z",
      Size: 7,
      Architecture: "arm64",
      Os: "linux",
      Variant: "v8",
      Config: {
        Cmd: ["serve"],
        Env: ["PATH=/bin", "TOKEN=a=b"],
        ExposedPorts: { "80/tcp": {} },
        Labels: { a: "b" },
      },
    }),
  "GET /images/app/history": () =>
    Response.json([
      { Id: ID, Created: 1_760_000_000, CreatedBy: "ENV TOKEN=a=b", Size: 0, Tags: ["app:1"] },
      { CreatedBy: "RUN |1 KEY=secret /bin/sh -c make # buildkit", Size: 7, Tags: null },
      { CreatedBy: "/bin/sh -c #(nop)  ARG KEY=secret", Size: 0, Tags: null },
      { CreatedBy: "/bin/sh -c make", Size: 3, Tags: null },
    ].map((layer) => ({ Comment: "", ...layer }))),
};

Deno.test("GET /api/images/:id shows configuration, history and the containers that use it", async () => {
  await using fake = fakeEngine(DETAILS);
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/images/app");

  equal(status, 200);
  deepEqual(body.usedBy.map(({ name }: { name: string }) => name), ["web"]);
  deepEqual([body.id, body.containers, body.architecture, body.variant, body.config.command], [
    ID,
    1,
    "arm64",
    "v8",
    ["serve"],
  ]);
  deepEqual(body.config.env, [{ name: "PATH", value: "/bin" }, { name: "TOKEN", value: "a=b" }]);
  deepEqual(body.history[0], {
    createdAt: "2025-10-09T08:53:20.000Z",
    createdBy: "ENV TOKEN=a=b",
    size: 0,
    comment: "",
    tags: ["app:1"],
  });
  equal((await app.call("GET", "/api/images/unknown")).status, 404);
});

Deno.test("GET /api/images/:id hides the values of variables and build arguments from viewers", async () => {
  await using fake = fakeEngine(DETAILS);
  using app = testApp({ engine: fake.engine });

  const { body } = await app.call("GET", "/api/images/app", undefined, { role: "viewer" });

  deepEqual(body.config.env.map(({ value }: { value: string }) => value), ["********", "********"]);
  deepEqual(body.history.map(({ createdBy }: { createdBy: string }) => createdBy), [
    "ENV TOKEN=********",
    "RUN |1 ********",
    "/bin/sh -c #(nop)  ARG KEY=********",
    "/bin/sh -c make",
  ]);
});

Deno.test("POST /api/images/:id/tag adds a name", async () => {
  await using fake = fakeEngine({
    "POST /images/app/tag": () => new Response(null, { status: 201 }),
  });
  using app = testApp({ engine: fake.engine });
  const tag = (image: string) => app.call("POST", "/api/images/app/tag", { image });

  deepEqual((await tag("registry.example:5000/team/app")).body, {
    ok: true,
    image: "registry.example:5000/team/app:latest",
  });
  deepEqual(fake.requests, [
    "POST /images/app/tag?repo=registry.example%3A5000%2Fteam%2Fapp&tag=latest",
  ]);
  equal((await tag(`app@${ID}`)).status, 400);
  equal((await tag("App")).status, 400);
});

Deno.test("images are pulled, loaded, exported and tagged by admins only", async () => {
  using app = testApp();
  for (const role of ["viewer", "operator"] as const) {
    const call = async (method: string, path: string, body?: unknown) =>
      (await app.call(method, `/api/images/${path}`, body, { role })).status;
    equal(await call("POST", "pull", { image: "app" }), 403);
    equal(await call("POST", "load", "archive"), 403);
    equal(await call("GET", "app/export"), 403);
    equal(await call("POST", "app/tag", { image: "app" }), 403);
  }
});

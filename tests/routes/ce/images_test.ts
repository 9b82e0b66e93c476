import { deepEqual, equal } from "node:assert/strict";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { simulateContainers } from "../../helpers/fake_containers.ts";
import { testApp } from "../../helpers/test_app.ts";

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

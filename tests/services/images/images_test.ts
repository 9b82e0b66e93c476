import { deepEqual, equal, rejects } from "node:assert/strict";
import { listImages, pruneImages, removeImage } from "../../../services/images/images.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { simulateContainers } from "../../helpers/fake_containers.ts";
import { createDiskUsageCache } from "../../../services/storage/disk_usage_cache.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";

const ID = `sha256:${"a".repeat(64)}`;
const OLDER = `sha256:${"b".repeat(64)}`;

function depsOf({ engine }: FakeEngine) {
  const now = () => new Date("2026-01-01T00:00:00Z");
  return {
    engine,
    diskUsage: createDiskUsageCache(engine, now),
    inventory: createInventory(now),
    self: { id: null, hostname: null },
  };
}

Deno.test("images are listed newest first with the number of their containers", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([
      { name: "one", imageId: ID },
      { name: "two", imageId: ID, state: "exited" },
    ]),
    "GET /images/json": () =>
      Response.json([
        {
          Id: OLDER,
          RepoTags: ["<none>:<none>"],
          RepoDigests: ["<none>@<none>"],
          Created: 1_700_000_000,
          Size: 5,
          Containers: -1,
        },
        { Id: ID, RepoTags: ["app:1"], RepoDigests: null, Created: 1_760_000_000, Size: 7 },
        { Id: "c".repeat(64), RepoTags: null, RepoDigests: ["app@sha256:d"], Created: 0, Size: 1 },
      ]),
  });

  deepEqual(await listImages(depsOf(fake)), [
    {
      id: ID,
      repoTags: ["app:1"],
      repoDigests: [],
      size: 7,
      createdAt: "2025-10-09T08:53:20.000Z",
      created: "2025-10-09T08:53:20.000Z",
      containers: 2,
      dangling: false,
      warning: null,
    },
    {
      id: OLDER,
      repoTags: [],
      repoDigests: [],
      size: 5,
      createdAt: "2023-11-14T22:13:20.000Z",
      created: "2023-11-14T22:13:20.000Z",
      containers: 0,
      dangling: true,
      warning: null,
    },
    {
      id: `sha256:${"c".repeat(64)}`,
      repoTags: [],
      repoDigests: ["app@sha256:d"],
      size: 1,
      createdAt: null,
      created: null,
      containers: 0,
      dangling: true,
      warning: null,
    },
  ]);
});

Deno.test("a removal reports deleted ids and removed names", async () => {
  await using fake = fakeEngine({
    "DELETE /images/registry%3A5000/team/app%3A1": () =>
      Response.json([{ Untagged: "registry:5000/team/app:1" }, { Deleted: ID }]),
  });

  deepEqual(await removeImage(depsOf(fake), "registry:5000/team/app:1"), {
    ok: true,
    deleted: [ID],
    untagged: ["registry:5000/team/app:1"],
  });
});

for (const name of ["..", "../containers/json", "a/../../containers/x", "/images", "a//b"]) {
  Deno.test(`the name ${name} cannot reach another path of the engine`, async () => {
    await using fake = fakeEngine();

    await rejects(removeImage(depsOf(fake), name), { name: "EngineError", status: 404 });
    await rejects(removeImage(depsOf(fake), name, { force: true }), { status: 404 });
    deepEqual(fake.requests, []);
  });
}

Deno.test("with force, Podman is not allowed to remove containers", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", imageId: ID, state: "exited" }]),
    "GET /images/app%3A1/json": () => Response.json({ Id: "a".repeat(64) }),
    "DELETE /images/app%3A1": () => Response.json([{ Deleted: ID }]),
  }, { pingHeaders: { "libpod-api-version": "4.3.1" } });

  await rejects(removeImage(depsOf(fake), "app:1", { force: true }), {
    code: "conflict",
    message: "Image app:1 is in use by web",
  });
  equal(fake.requests.some((request) => request.startsWith("DELETE")), false);
});

Deno.test("with force, Docker decides what it removes", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", imageId: ID, state: "exited" }]),
    "GET /images/app%3A1/json": () => Response.json({ Id: ID }),
    "DELETE /images/app%3A1": () => Response.json([{ Untagged: "app:1" }]),
  });

  deepEqual(await removeImage(depsOf(fake), "app:1", { force: true }), {
    ok: true,
    deleted: [],
    untagged: ["app:1"],
  });
  equal(fake.requests.at(-1), "DELETE /images/app%3A1?force=true");
});

Deno.test("a prune removes dangling images only", async () => {
  await using fake = fakeEngine({
    "POST /images/prune": ({ query }) => {
      deepEqual(JSON.parse(query.get("filters")!), { dangling: ["true"] });
      return Response.json({ ImagesDeleted: [{ Deleted: ID }], SpaceReclaimed: 42 });
    },
  });

  deepEqual(await pruneImages(depsOf(fake)), { deleted: [ID], untagged: [], spaceReclaimed: 42 });
});

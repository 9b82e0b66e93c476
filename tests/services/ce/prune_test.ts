import { deepEqual, equal, rejects } from "node:assert/strict";
import { listAll } from "../../../services/ce/container_reads.ts";
import { currentContainers } from "../../../services/ce/containers.ts";
import { pruneSystem } from "../../../services/ce/prune.ts";
import { beginRebuild } from "../../../services/ce/rebuild_marks.ts";
import { createInventory } from "../../../services/inventory.ts";
import { silentLog } from "../../../services/log.ts";
import { idOf, playContainers, type PlayedContainer } from "../../helpers/fake_containers.ts";
import { type FakeAnswer, type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";

function depsOf({ engine }: FakeEngine, self: string | null = null) {
  const inventory = createInventory(() => new Date("2026-01-01T00:00:00Z"));
  return { engine, inventory, self: { id: self && idOf(self), hostname: null }, log: silentLog };
}

/** An engine with something to remove of each kind. */
const playPrune = (containers: PlayedContainer[] = []): Record<string, FakeAnswer> => ({
  ...playContainers(containers),
  "POST /networks/prune": () => Response.json({ NetworksDeleted: ["old_net"] }),
  "POST /volumes/prune": () => Response.json({ VolumesDeleted: ["old_vol"], SpaceReclaimed: 300 }),
  "POST /images/prune": () =>
    Response.json({
      ImagesDeleted: [{ Untagged: "a@sha256:1" }, { Deleted: "sha256:1" }],
      SpaceReclaimed: 20,
    }),
  "POST /build/prune": () => Response.json({ CachesDeleted: ["cache1"], SpaceReclaimed: 1 }),
});

Deno.test("a prune removes each kind, volumes only when asked to", async () => {
  await using fake = fakeEngine(playPrune([
    { name: "runs" },
    { name: "paused", state: "paused" },
    { name: "ended", state: "exited", sizeRw: 4000 },
    { name: "made", state: "created" },
  ]));

  const { containers, ...rest } = await pruneSystem(depsOf(fake), { includeVolumes: false });

  deepEqual([...containers.deleted].sort(), [idOf("ended"), idOf("made")].sort());
  equal(containers.spaceReclaimed, 4000);
  deepEqual(rest, {
    networks: { deleted: ["old_net"], spaceReclaimed: 0, error: null },
    volumes: { deleted: [], spaceReclaimed: 0, error: null },
    images: { deleted: ["sha256:1"], spaceReclaimed: 20, error: null },
    buildCache: { deleted: ["cache1"], spaceReclaimed: 1, error: null },
    totalReclaimed: 4021,
  });
  equal(fake.requests.some((request) => request.startsWith("POST /volumes")), false);
});

Deno.test("with volumes, named ones go as well where the engine tells them apart", async () => {
  let filters: unknown;
  await using fake = fakeEngine({
    ...playPrune(),
    "POST /volumes/prune": ({ query }) => {
      filters = JSON.parse(query.get("filters") ?? "null");
      return Response.json({ VolumesDeleted: ["old_vol"], SpaceReclaimed: 300 });
    },
  }, { apiVersion: "1.44" });

  const { volumes, totalReclaimed } = await pruneSystem(depsOf(fake), { includeVolumes: true });

  deepEqual(filters, { all: ["true"] });
  deepEqual(volumes, { deleted: ["old_vol"], spaceReclaimed: 300, error: null });
  equal(totalReclaimed, 321);
});

Deno.test("pruned containers are gone from the next read", async () => {
  await using fake = fakeEngine(playPrune([{ name: "ended", state: "exited" }]));
  const deps = depsOf(fake);
  await listAll(deps);
  deps.inventory.setLive(true);

  await pruneSystem(deps, { includeVolumes: false });

  deepEqual(await currentContainers(deps), []);
});

for (const role of ["old", "new"]) {
  Deno.test(`the ${role} container of a rebuild is kept, with its networks`, async () => {
    const name = `web-longshore-${role}-running-0123456789ab`;
    await using fake = fakeEngine(playPrune([
      { name, state: role === "old" ? "exited" : "created" },
      { name: "ended", state: "exited" },
    ]));

    const report = await pruneSystem(depsOf(fake), { includeVolumes: false });

    deepEqual(report.containers.deleted, [idOf("ended")]);
    deepEqual(report.networks, {
      deleted: [],
      spaceReclaimed: 0,
      error: `Networks are left alone during the rebuild of ${name}`,
    });
    equal(fake.requests.some((request) => request.startsWith("POST /networks")), false);
  });
}

Deno.test("a container that a rebuild has stopped, but not renamed yet, is kept", async () => {
  await using fake = fakeEngine(playPrune([{ name: "web", state: "exited" }]));
  using _rebuild = beginRebuild(fake.engine, "web");

  const report = await pruneSystem(depsOf(fake), { includeVolumes: false });

  deepEqual(report.containers.deleted, []);
  equal(report.networks.error, "Networks are left alone during the rebuild of web");
});

Deno.test("one that was started meanwhile is left alone", async () => {
  await using fake = fakeEngine({
    ...playPrune([{ name: "ended", state: "exited" }]),
    "DELETE /containers/*": () =>
      Response.json({ message: "You cannot remove a running container" }, { status: 409 }),
  });

  const { containers } = await pruneSystem(depsOf(fake), { includeVolumes: false });

  deepEqual(containers, { deleted: [], spaceReclaimed: 0, error: null });
});

Deno.test("a kind that fails does not stop the others", async () => {
  await using fake = fakeEngine({
    ...playPrune(),
    "POST /networks/prune": () =>
      Response.json({ message: "a prune operation is already running" }, { status: 409 }),
  });

  const { networks, images, totalReclaimed } = await pruneSystem(depsOf(fake), {
    includeVolumes: false,
  });

  deepEqual(networks, {
    deleted: [],
    spaceReclaimed: 0,
    error: "a prune operation is already running",
  });
  equal(images.error, null);
  equal(totalReclaimed, 21);
});

Deno.test("an engine that is away fails the whole", async () => {
  await using fake = fakeEngine(playPrune());
  await fake.down();

  await rejects(pruneSystem(depsOf(fake), { includeVolumes: true }), {
    name: "EngineUnreachableError",
  });
});

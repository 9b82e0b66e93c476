import { deepEqual, equal, rejects } from "node:assert/strict";
import { listAll } from "../../../services/containers/reads.ts";
import { currentContainers } from "../../../services/containers/containers.ts";
import { PRUNE_KINDS, type PruneOptions, pruneSystem } from "../../../services/images/prune.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { silentLog } from "../../../services/log.ts";
import { createReservations } from "../../../services/containers/reservations.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../helpers/fake_containers.ts";
import { createDiskUsageCache } from "../../../services/storage/disk_usage_cache.ts";
import { type FakeAnswer, type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";

/** Containers, networks and volumes of the fake engine are 12 hours old. */
const now = () => new Date("2026-01-01T12:00:00Z");
const OLD = "2026-01-01T00:00:00Z";
const NEW = "2026-01-01T11:30:00Z";

function depsOf({ engine }: FakeEngine, self: string | null = null) {
  const inventory = createInventory(now);
  return {
    engine,
    diskUsage: createDiskUsageCache(engine, now),
    inventory,
    reservations: createReservations(),
    now,
    self: { id: self && idOf(self), hostname: null },
    log: silentLog,
  };
}

const prune = (
  deps: ReturnType<typeof depsOf>,
  options: Partial<PruneOptions> = {},
) =>
  pruneSystem(deps, {
    dryRun: false,
    olderThanHours: 1,
    kinds: PRUNE_KINDS.filter((kind) => kind !== "volumes"),
    unusedImages: false,
    ...options,
  });

const NOTHING = { deleted: [], items: [], count: 0, spaceReclaimed: 0, error: null };

/** A host with unused objects of each kind, some of them new. */
function playPrune(containers: SimulatedContainer[] = []): Record<string, FakeAnswer> {
  const networks = [
    { Id: "n1", Name: "old_net", Scope: "local", Created: OLD },
    { Id: "n2", Name: "new_net", Scope: "local", Created: NEW },
    { Id: "n3", Name: "bridge", Scope: "local", Created: OLD },
    { Id: "n4", Name: "overlay", Scope: "swarm", Created: OLD },
    { Id: "n5", Name: "template", Scope: "local", Created: OLD, ConfigOnly: true },
  ];
  const volumes = [
    { Name: "old_vol", Driver: "local", CreatedAt: OLD },
    { Name: "new_vol", Driver: "local", CreatedAt: NEW },
    { Name: "ageless", Driver: "local" },
    { Name: "remote", Driver: "nfs", CreatedAt: OLD },
  ];
  const seconds = Date.parse(OLD) / 1000;
  const images = [
    { Id: "sha256:untagged", RepoTags: null, RepoDigests: null, Created: seconds, Size: 30 },
    { Id: "sha256:tagged", RepoTags: ["a:1", "b:1"], Created: seconds, Size: 50, SharedSize: 20 },
    { Id: "sha256:pulled", RepoTags: ["c:1"], Created: seconds, Size: 70 },
  ];
  const cache = [
    { ID: "cache1", Type: "regular", Size: 1, CreatedAt: OLD, LastUsedAt: OLD },
    { ID: "cache2", Type: "regular", Size: 2, CreatedAt: OLD, LastUsedAt: NEW },
    { ID: "cache3", Type: "regular", Size: 4, CreatedAt: OLD, InUse: true },
    { ID: "cache4", Type: "internal", Size: 8, CreatedAt: OLD },
  ];
  const remove = (list: { Id?: string; Name?: string }[]): FakeAnswer => ({ parts }) => {
    const at = list.findIndex(({ Id, Name }) => (Id ?? Name) === parts[0]);
    if (at < 0) return Response.json({ message: "not there" }, { status: 404 });
    list.splice(at, 1);
    return new Response(null, { status: 204 });
  };
  return {
    ...simulateContainers(containers),
    "GET /networks": () => Response.json(networks),
    "DELETE /networks/*": remove(networks),
    "GET /volumes": () => Response.json({ Volumes: volumes }),
    "DELETE /volumes/*": remove(volumes),
    "GET /images/json": () => Response.json(images),
    "GET /images/*/json": ({ parts }) =>
      Response.json({
        Id: parts[0],
        Metadata: { LastTagTime: parts[0] === "sha256:pulled" ? NEW : OLD },
      }),
    "DELETE /images/*": () => Response.json([]),
    "GET /system/df": () =>
      Response.json({
        Volumes: volumes.map(({ Name }) => ({ Name, UsageData: { Size: 300, RefCount: 0 } })),
        BuildCache: cache,
      }),
    "POST /build/prune": () => Response.json({ CachesDeleted: ["cache1"], SpaceReclaimed: 1 }),
  };
}

const writes = ({ requests }: FakeEngine) =>
  requests.filter((request) => !request.startsWith("GET"));

Deno.test("a prune removes each kind except volumes and objects of the last hour", async () => {
  await using fake = fakeEngine(playPrune([
    { name: "runs" },
    { name: "paused", state: "paused" },
    { name: "ended", state: "exited", sizeRw: 4000, finishedAt: "2026-01-01T10:59:59Z" },
    { name: "ended-now", state: "exited", sizeRw: 4000, finishedAt: "2026-01-01T11:00:01Z" },
    { name: "made", state: "created" },
  ]));

  const { containers, ...rest } = await prune(depsOf(fake));

  deepEqual(containers, {
    deleted: [idOf("ended"), idOf("made")],
    items: [
      { id: idOf("ended"), name: "ended", size: 4000 },
      { id: idOf("made"), name: "made", size: 0 },
    ],
    count: 2,
    spaceReclaimed: 4000,
    error: null,
  });
  deepEqual(rest, {
    networks: {
      ...NOTHING,
      deleted: ["old_net"],
      count: 1,
      items: [{ id: "n1", name: "old_net", size: 0 }],
    },
    volumes: NOTHING,
    images: {
      deleted: ["sha256:untagged"],
      items: [{ id: "sha256:untagged", name: "sha256:untagged", size: 30 }],
      count: 1,
      spaceReclaimed: 30,
      error: null,
    },
    buildCache: {
      deleted: ["cache1"],
      items: [{ id: "cache1", name: "cache1", size: null }],
      count: 1,
      spaceReclaimed: 1,
      error: null,
    },
    dryRun: false,
    totalReclaimed: 4031,
  });
  equal(writes(fake).some((request) => request.startsWith("DELETE /volumes")), false);
});

for (const olderThanHours of [0, 1]) {
  Deno.test(`a dry run lists what a prune of ${olderThanHours} hours removes, and removes nothing`, async () => {
    await using fake = fakeEngine(playPrune([
      { name: "runs", volumes: ["data"] },
      { name: "ended", state: "exited", sizeRw: 7, volumes: ["old_vol"] },
    ]));
    const options = { olderThanHours, kinds: PRUNE_KINDS, unusedImages: true };

    const dry = await prune(depsOf(fake), { ...options, dryRun: true });
    deepEqual(writes(fake), []);
    const real = await prune(depsOf(fake), options);

    // The engine selects the build cache records and does not report sizes.
    const { buildCache: planned } = dry;
    deepEqual([dry.dryRun, real.dryRun], [true, false]);
    for (const kind of ["containers", "networks", "volumes", "images"] as const) {
      deepEqual(dry[kind], real[kind]);
      equal(dry[kind].deleted.length > 0, true, kind);
    }
    deepEqual(planned.deleted, olderThanHours === 0 ? ["cache1", "cache2"] : ["cache1"]);
  });
}

Deno.test("a volume to which a restore writes is kept, although no container uses it yet", async () => {
  await using fake = fakeEngine(playPrune());
  const deps = depsOf(fake);
  const kinds = ["volumes"] as const;
  const reserved = { id: "/volumes/old_vol", name: "/volumes/old_vol" };
  {
    using _ = deps.reservations.reserve({ id: "shop", name: "shop" }, "restored", {
      affected: [reserved],
    });
    deepEqual((await prune(deps, { kinds })).volumes.deleted, []);
  }
  deepEqual((await prune(deps, { kinds })).volumes.deleted, ["old_vol"]);
  deepEqual(deps.reservations.find(reserved), undefined);
});

Deno.test("old volumes of the local driver are removed", async () => {
  await using fake = fakeEngine(playPrune());
  const kinds = ["volumes"] as const;
  deepEqual((await prune(depsOf(fake), { kinds })).volumes, {
    deleted: ["old_vol"],
    items: [{ id: "old_vol", name: "old_vol", size: 300 }],
    count: 1,
    spaceReclaimed: 300,
    error: null,
  });
  const { deleted } = (await prune(depsOf(fake), { kinds, olderThanHours: 0 })).volumes;
  deepEqual(deleted, ["new_vol", "ageless"]);
});

Deno.test("unusedImages also removes tagged images, each by all of its names", async () => {
  await using fake = fakeEngine(playPrune([
    { name: "ended", state: "exited", imageId: "sha256:untagged", finishedAt: NEW },
  ]));
  const { images } = await prune(depsOf(fake), { kinds: ["images"], unusedImages: true });
  deepEqual(images.items, [{ id: "sha256:tagged", name: "a:1", size: 30 }]);
  deepEqual(writes(fake), ["DELETE /images/a%3A1", "DELETE /images/b%3A1"]);
});

Deno.test("a network of a stopped container that is kept is not removed", async () => {
  await using fake = fakeEngine(playPrune([
    { name: "ended", state: "exited", finishedAt: NEW, networks: ["old_net"] },
  ]));
  deepEqual((await prune(depsOf(fake), { kinds: ["networks"] })).networks.deleted, []);
});

Deno.test("the minimum age applies to the build cache", async () => {
  const filters: unknown[] = [];
  await using fake = fakeEngine({
    ...playPrune(),
    "POST /build/prune": ({ query }) => {
      filters.push(JSON.parse(query.get("filters") ?? "null"));
      return Response.json({});
    },
  });
  for (const olderThanHours of [0, 0.5]) {
    await prune(depsOf(fake), { kinds: ["buildCache"], olderThanHours });
  }
  deepEqual(filters, [null, { until: ["1800s"] }]);
});

Deno.test("pruned containers are missing from the next read", async () => {
  await using fake = fakeEngine(playPrune([{ name: "ended", state: "exited" }]));
  const deps = depsOf(fake);
  await listAll(deps);
  deps.inventory.setLive(true);

  await prune(deps);

  deepEqual(await currentContainers(deps), []);
});

for (const role of ["old", "new"]) {
  Deno.test(`the ${role} container of a rebuild is kept, with its networks`, async () => {
    const name = `web-longshore-${role}-running-0123456789ab`;
    await using fake = fakeEngine(playPrune([
      { name, state: role === "old" ? "exited" : "created" },
      { name: "ended", state: "exited" },
    ]));

    const deps = depsOf(fake);
    deps.inventory.temporary.record({ id: idOf(name), name: "web" });

    const report = await prune(deps);

    deepEqual(report.containers.deleted, [idOf("ended")]);
    deepEqual(report.networks, {
      ...NOTHING,
      error: "Networks are kept while the rebuild of web is unfinished",
    });
    equal(fake.requests.some((request) => request.startsWith("DELETE /networks")), false);
  });

  Deno.test(`a container that only has the name of the ${role} one is removed`, async () => {
    const name = `web-longshore-${role}-running-0123456789ab`;
    await using fake = fakeEngine(playPrune([{ name, state: "exited" }]));

    const { containers, networks } = await prune(depsOf(fake));

    deepEqual([containers.deleted, networks.error], [[idOf(name)], null]);
  });
}

Deno.test("a container that a rebuild has stopped but not renamed is kept", async () => {
  await using fake = fakeEngine(playPrune([{ name: "web", state: "exited" }]));
  const deps = depsOf(fake);
  using _ = deps.reservations.reserve({ id: idOf("web"), name: "web" }, "rebuilt");

  const report = await prune(deps);

  deepEqual(report.containers.deleted, []);
  equal(report.networks.error, "Networks are kept while web is being rebuilt");
});

Deno.test("a container that was started in the meantime is kept", async () => {
  await using fake = fakeEngine({
    ...playPrune([{ name: "ended", state: "exited" }]),
    "DELETE /containers/*": () =>
      Response.json({ message: "You cannot remove a running container" }, { status: 409 }),
  });

  const { containers } = await prune(depsOf(fake));

  deepEqual(containers, NOTHING);
});

Deno.test("a failure of one kind does not stop the others", async () => {
  await using fake = fakeEngine({
    ...playPrune(),
    "GET /networks": () => Response.json({ message: "the network store broke" }, { status: 500 }),
  });

  const { networks, images, totalReclaimed } = await prune(depsOf(fake));

  deepEqual({ ...networks, error: typeof networks.error }, { ...NOTHING, error: "string" });
  equal(images.error, null);
  equal(totalReclaimed, 31);
});

Deno.test("an unreachable engine fails the prune", async () => {
  await using fake = fakeEngine(playPrune());
  await fake.down();

  await rejects(prune(depsOf(fake), { kinds: PRUNE_KINDS }), {
    name: "EngineUnreachableError",
  });
});

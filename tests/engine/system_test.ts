import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  buildPrune,
  systemDiskUsage,
  systemInfo,
  systemPing,
  systemVersion,
} from "../../engine/system.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";

/** `/system/df` up to API 1.51. */
const legacy = {
  LayersSize: 100,
  Images: [{ Size: 80 }, { Size: 70 }],
  Containers: [{ SizeRw: 5 }, { SizeRootFs: 9 }],
  Volumes: [
    { Name: "data", UsageData: { Size: 30, RefCount: 1 } },
    { Name: "remote", UsageData: { Size: -1, RefCount: -1 } },
    { Name: "unknown", UsageData: null },
  ],
  BuildCache: [
    { ID: "own", Type: "regular", Size: 7, InUse: true, CreatedAt: "2026-01-01T00:00:00Z" },
    { ID: "base", Type: "regular", Size: 90, Shared: true, LastUsedAt: "2026-01-02T00:00:00Z" },
  ],
};

/** Since API 1.52, with `verbose`. */
const current = {
  ImageUsage: { ActiveCount: 1, TotalCount: 2, Reclaimable: 1, TotalSize: 100, Items: [{}, {}] },
  ContainerUsage: { ActiveCount: 1, TotalCount: 2, Reclaimable: 1, TotalSize: 5 },
  VolumeUsage: { TotalCount: 3, TotalSize: 30, Items: legacy.Volumes },
  BuildCacheUsage: { TotalCount: 2, TotalSize: 7, Items: legacy.BuildCache },
};

const expected = {
  containers: { count: 2, size: 5 },
  images: { count: 2, size: 100 },
  volumes: {
    count: 3,
    size: 30,
    items: [
      { name: "data", size: 30, refCount: 1 },
      { name: "remote", size: -1, refCount: -1 },
      { name: "unknown", size: -1, refCount: -1 },
    ],
  },
  buildCache: {
    count: 2,
    size: 7,
    items: [
      {
        id: "own",
        type: "regular",
        size: 7,
        inUse: true,
        shared: false,
        lastUsedAt: "2026-01-01T00:00:00Z",
      },
      {
        id: "base",
        type: "regular",
        size: 90,
        inUse: false,
        shared: true,
        lastUsedAt: "2026-01-02T00:00:00Z",
      },
    ],
  },
};

for (
  const { apiVersion, answer, request } of [
    { apiVersion: "1.41", answer: legacy, request: "GET /system/df" },
    {
      apiVersion: "1.52",
      answer: { ...legacy, ...current },
      request: "GET /system/df?verbose=true",
    },
    { apiVersion: "1.53", answer: current, request: "GET /system/df?verbose=true" },
  ]
) {
  Deno.test(`systemDiskUsage() reads the form of API ${apiVersion}`, async () => {
    await using fake = fakeEngine(
      { "GET /system/df": () => Response.json(answer) },
      { apiVersion },
    );
    deepEqual(await systemDiskUsage(fake.engine), expected);
    deepEqual(fake.requests, [request]);
  });
}

Deno.test("systemDiskUsage() sums up image sizes without a total, and treats null as an empty list", async () => {
  await using fake = fakeEngine({
    "GET /system/df": () =>
      Response.json({
        ...legacy,
        LayersSize: 0,
        Containers: null,
        Volumes: null,
        BuildCache: null,
      }),
  });
  deepEqual(await systemDiskUsage(fake.engine), {
    containers: { count: 0, size: 0 },
    images: { count: 2, size: 150 },
    volumes: { count: 0, size: 0, items: [] },
    buildCache: { count: 0, size: 0, items: [] },
  });
});

Deno.test("buildPrune() removes nothing on Podman, which has no build cache", async () => {
  await using docker = fakeEngine({
    "POST /build/prune": () => Response.json({ CachesDeleted: ["b1"], SpaceReclaimed: 3 }),
  });
  const filters = { until: ["1h"] };
  deepEqual(await buildPrune(docker.engine, { filters }), { deleted: ["b1"], spaceReclaimed: 3 });
  deepEqual(docker.requests, ["POST /build/prune?filters=%7B%22until%22%3A%5B%221h%22%5D%7D"]);

  await using podman = fakeEngine({}, { pingHeaders: { "libpod-api-version": "4.3.1" } });
  deepEqual(await buildPrune(podman.engine), { deleted: [], spaceReclaimed: 0 });

  await using odd = fakeEngine({});
  await rejects(buildPrune(odd.engine), { name: "EngineError", status: 404 });
});

Deno.test("systemVersion(), systemInfo() and systemPing() read the engine's description", async () => {
  await using fake = fakeEngine({
    "GET /info": () => Response.json({ Name: "host" }),
    "GET /version": () => Response.json({ Version: "29.0.0" }),
  });
  await systemPing(fake.engine);
  equal((await systemInfo(fake.engine)).Name, "host");
  equal((await systemVersion(fake.engine)).Version, "29.0.0");
});

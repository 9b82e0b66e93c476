import { deepEqual, equal, rejects } from "node:assert/strict";
import { readDiskBreakdown } from "../../../services/storage/disk_usage.ts";
import { listVolumes, removeVolume } from "../../../services/storage/volumes.ts";
import { createReservations } from "../../../services/containers/reservations.ts";
import { createInventory } from "../../../services/containers/inventory.ts";
import { simulateContainers } from "../../helpers/fake_containers.ts";
import { createDiskUsageCache } from "../../../services/storage/disk_usage_cache.ts";
import { type FakeEngine, fakeEngine } from "../../helpers/fake_engine.ts";

function depsOf({ engine }: FakeEngine) {
  const clock = { ms: Date.parse("2026-01-01T00:00:00Z") };
  const now = () => new Date(clock.ms);
  const inventory = createInventory(now);
  const diskUsage = createDiskUsageCache(engine, now);
  return {
    ...{ engine, diskUsage, inventory, now, clock },
    self: { id: null, hostname: null },
    reservations: createReservations(),
  };
}

const volumeOf = (Name: string, fields = {}) => ({
  Name,
  Driver: "local",
  Mountpoint: `/var/lib/docker/volumes/${Name}/_data`,
  Scope: "local",
  CreatedAt: "2026-01-01T01:00:00+01:00",
  Labels: null,
  Options: null,
  ...fields,
});

const listing = (...volumes: unknown[]) => ({
  "GET /volumes": () => Response.json({ Volumes: volumes }),
});

const usage = (...Volumes: unknown[]) => ({
  "GET /system/df": () => Response.json({ Volumes }),
});

Deno.test("volumes are listed by name with the names of their containers", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([
      { name: "web", volumes: ["data"] },
      { name: "job", volumes: ["data"], state: "exited" },
    ]),
    ...listing(volumeOf("unused", { CreatedAt: "", Labels: { a: "b" } }), volumeOf("data")),
  });

  deepEqual(await listVolumes(depsOf(fake)), [
    {
      name: "data",
      driver: "local",
      mountpoint: "/var/lib/docker/volumes/data/_data",
      scope: "local",
      createdAt: "2026-01-01T00:00:00.000Z",
      labels: {},
      size: null,
      warning: null,
      containers: ["job", "web"],
    },
    {
      name: "unused",
      driver: "local",
      mountpoint: "/var/lib/docker/volumes/unused/_data",
      scope: "local",
      createdAt: null,
      labels: { a: "b" },
      size: null,
      warning: null,
      containers: [],
    },
  ]);
});

Deno.test("listing volumes shows known sizes without computing them", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([]),
    ...listing(volumeOf("data"), volumeOf("remote")),
    ...usage(
      { Name: "data", UsageData: { Size: 4096, RefCount: 1 } },
      { Name: "remote", UsageData: { Size: -1, RefCount: -1 } },
    ),
  });
  const deps = depsOf(fake);
  const sizes = async () => (await listVolumes(deps)).map(({ size }) => size);

  deepEqual(await sizes(), [null, null]);
  equal(fake.requests.includes("GET /system/df"), false);
  await readDiskBreakdown(deps);
  deepEqual(await sizes(), [4096, null]);
  deps.clock.ms += 2 * 60 * 60_000;
  deepEqual(await sizes(), [null, null]);
});

Deno.test("a volume in use is a conflict that names the containers", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", volumes: ["data"], state: "exited" }]),
    "DELETE /volumes/data": () =>
      Response.json({ message: "remove data: volume is in use - [4f1e]" }, { status: 409 }),
  });

  await rejects(removeVolume(depsOf(fake), "data"), {
    code: "conflict",
    message: "Volume data is in use by web",
  });
});

Deno.test("an unknown volume is not found", async () => {
  await using fake = fakeEngine();

  await rejects(removeVolume(depsOf(fake), "data"), {
    code: "not_found",
    message: "Volume data does not exist",
  });
});

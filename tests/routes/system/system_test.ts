import { deepEqual, equal } from "node:assert/strict";
import { idOf, simulateContainers } from "../../helpers/fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const INFO = {
  Name: "host1",
  ServerVersion: "20.10.24",
  Containers: 3,
  Images: 2,
  Driver: "overlay2",
  CgroupVersion: "2",
  KernelVersion: "6.1.0",
  OperatingSystem: "Debian GNU/Linux 12",
  Architecture: "x86_64",
  NCPU: 4,
  MemTotal: 8_000_000_000,
  SecurityOptions: ["name=seccomp,profile=default", "name=rootless"],
  Warnings: ["WARNING: No swap limit support"],
  Swarm: { LocalNodeState: "inactive" },
};

const system: Record<string, FakeAnswer> = {
  "GET /info": () => Response.json(INFO),
  "GET /system/df": () =>
    Response.json({ LayersSize: 10, Images: [{ Size: 10 }], Containers: [], Volumes: [] }),
};

const usage = {
  containers: { count: 0, size: 0 },
  images: { count: 1, size: 10 },
  volumes: { count: 0, size: 0 },
  buildCache: { count: 0, size: 0 },
  totalSize: 10,
  computedAt: "2026-01-01T00:00:00.000Z",
};

Deno.test("GET /api/system/docker describes the engine with its disk usage", async () => {
  await using fake = fakeEngine(system);
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/system/docker", undefined, {
    role: "viewer",
  });

  equal(status, 200);
  deepEqual(body, {
    info: {
      name: "host1",
      version: "20.10.24",
      apiVersion: "1.41",
      os: "Debian GNU/Linux 12",
      kernel: "6.1.0",
      architecture: "x86_64",
      cpus: 4,
      memoryBytes: 8_000_000_000,
      storageDriver: "overlay2",
      cgroupVersion: "2",
      swarm: "inactive",
      rootless: true,
      containers: 3,
      images: 2,
      warnings: ["WARNING: No swap limit support"],
    },
    diskUsage: usage,
  });
});

Deno.test("GET /api/system/docker omits the disk usage if it fails", async () => {
  await using fake = fakeEngine({
    ...system,
    "GET /system/df": () => Response.json({ message: "I/O error" }, { status: 500 }),
  });
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/system/docker");

  deepEqual([status, body.info.name, body.diskUsage], [200, "host1", null]);
});

Deno.test("GET /api/system/disk returns the disk usage by kind", async () => {
  await using fake = fakeEngine(system);
  using app = testApp({ engine: fake.engine });

  const { status, body } = await app.call("GET", "/api/system/disk", undefined, { role: "viewer" });

  deepEqual([status, body], [200, usage]);
});

Deno.test("POST /api/system/prune removes volumes only with includeVolumes", async () => {
  const volume = { Name: "v", Driver: "local", CreatedAt: "2020-01-01T00:00:00Z" };
  const volumes = [volume];
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "ended", state: "exited", sizeRw: 5 }]),
    "GET /networks": () => Response.json([]),
    "GET /images/json": () => Response.json([]),
    "GET /volumes": () => Response.json({ Volumes: volumes }),
    "DELETE /volumes/*": () => {
      volumes.length = 0;
      return new Response(null, { status: 204 });
    },
    "GET /system/df": () =>
      Response.json({ Volumes: [{ Name: "v", UsageData: { Size: 7, RefCount: 0 } }] }),
    "POST /build/prune": () => Response.json({ CachesDeleted: null, SpaceReclaimed: 0 }),
  });
  using app = testApp({ engine: fake.engine });
  const prune = async (body: Record<string, unknown>) =>
    (await app.call("POST", "/api/system/prune", { olderThanHours: 0, ...body })).body;
  const none = { deleted: [], items: [], count: 0, spaceReclaimed: 0, error: null };

  await prune({ dryRun: true });
  const first = await prune({});
  const second = await prune({ includeVolumes: true });

  deepEqual([first.volumes, first.buildCache], [none, none]);
  deepEqual([first.containers.deleted, first.containers.count], [[idOf("ended")], 1]);
  deepEqual(second.volumes, {
    deleted: ["v"],
    items: [{ id: "v", name: "v", size: 7 }],
    count: 1,
    spaceReclaimed: 7,
    error: null,
  });
  // The dry run has no entry.
  equal((await app.call("GET", "/api/audit?action=system/prune")).body.total, 2);
});

Deno.test("POST /api/system/prune accepts includeVolumes only as a boolean", async () => {
  using app = testApp();

  for (const includeVolumes of ["true", 1, null]) {
    const { status, body } = await app.call("POST", "/api/system/prune", { includeVolumes });
    equal(status, 400);
    equal(body.error.startsWith("body.includeVolumes: "), true, body.error);
  }
});

Deno.test("only admins prune", async () => {
  using app = testApp();

  for (const role of ["viewer", "operator"] as const) {
    equal((await app.call("POST", "/api/system/prune", {}, { role })).status, 403);
  }
});

Deno.test("without an engine /api/system is 503", async () => {
  using app = testApp();

  equal((await app.call("GET", "/api/system/docker")).status, 503);
  equal((await app.call("GET", "/api/system/disk")).status, 503);
  equal((await app.call("POST", "/api/system/prune", { includeVolumes: true })).status, 503);
});

import { deepEqual, equal, ok } from "node:assert/strict";
import { upsertSeenDigest } from "../../db/updates/digests.ts";
import { replaceCheckedImage } from "../../db/updates/images.ts";
import { containerList } from "../../engine/containers.ts";
import { listAll } from "../../services/containers/reads.ts";
import { sampleContainer } from "../../services/containers/stats.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { RECORDED, RECORDED_ANSWERS } from "../helpers/recorded_engine.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const { containerId, indexDigest, untaggedDigest } = RECORDED;

async function withRecorded(
  test: (app: TestApp, requests: readonly string[]) => Promise<void>,
): Promise<void> {
  await using fake = fakeEngine({ ...RECORDED_ANSWERS }, { apiVersion: "1.52" });
  using app = testApp({ engine: fake.engine, now: "2026-01-01T00:05:02Z" });
  await listAll(app.deps);
  app.deps.inventory.setLive(true);
  await test(app, fake.requests);
}

/** The body of a GET, which must succeed. */
async function read(app: TestApp, path: string) {
  const { status, body } = await app.call("GET", path);
  equal(status, 200, JSON.stringify(body));
  return body;
}

Deno.test("recorded API 1.52: containers are listed and described", () =>
  withRecorded(async (app) => {
    const { containers: [listed] } = await read(app, "/api/containers");
    deepEqual(
      [listed.name, listed.image, listed.state, listed.health, listed.ports],
      ["web", "registry.example/team/web:1", "running", "healthy", [
        { ip: "0.0.0.0", privatePort: 80, publicPort: 8080, type: "tcp" },
        { ip: null, privatePort: 81, publicPort: null, type: "tcp" },
      ]],
    );
    const detail = await read(app, "/api/containers/web");
    deepEqual(
      [detail.startedAt, detail.finishedAt, detail.exitCode, detail.limits],
      ["2026-01-01T00:00:01.461Z", null, null, {
        memoryBytes: 268_435_456,
        memorySwapBytes: null,
        cpus: null,
        pids: null,
      }],
    );
    // The addresses are those of the network, because those of the container are no longer sent.
    deepEqual(detail.networkSettings, [{
      name: "bridge",
      networkId: RECORDED.networkId,
      ipv4: "172.17.0.4",
      ipv6: "",
      gateway: "172.17.0.1",
      mac: "9a:ec:af:8a:ac:81",
      aliases: [],
    }]);
    const [summary] = await containerList(app.deps.engine);
    equal(summary!.Health?.Status, "healthy");
  }));

Deno.test("recorded API 1.52: images have the digests of their indexes as ids", () =>
  withRecorded(async (app) => {
    const { images } = await read(app, "/api/images");
    deepEqual(
      images.map(({ id, repoTags, containers, dangling }: Record<string, unknown>) => [
        id,
        repoTags,
        containers,
        dangling,
      ]).sort(),
      [
        [untaggedDigest, [], 1, true],
        [indexDigest, ["registry.example/team/web:1"], 0, false],
      ],
    );
    const detail = await read(app, `/api/images/${indexDigest}`);
    deepEqual([detail.os, detail.architecture, detail.variant], ["linux", "amd64", null]);
    deepEqual(detail.config, {
      entrypoint: [],
      command: ["httpd", "-f"],
      workingDir: "",
      user: "",
      env: [],
      exposedPorts: ["80/tcp"],
      volumes: [],
      labels: {},
    });
  }));

Deno.test("recorded API 1.52: a container whose image lost its name waits for the pulled one", () =>
  withRecorded(async (app) => {
    const image = "registry.example/team/web:1";
    const at = "2026-01-01T00:00:00.000Z";
    const { db } = app.deps;
    upsertSeenDigest(db, { image, digest: indexDigest, at, kind: "index" });
    replaceCheckedImage(db, {
      image,
      latestDigest: indexDigest,
      newerVersions: [],
      versionsReason: null,
      reason: null,
      rateLimitRemaining: null,
      checkedAt: at,
      lastGoodAt: at,
      retryAt: null,
      jitter: 0,
    });
    const { updates: [update] } = await read(app, "/api/updates");
    deepEqual(
      [update.status, update.digest, update.latestDigest],
      ["pulled", untaggedDigest, indexDigest],
    );
  }));

Deno.test("recorded API 1.52: statistics of control groups of version 2 are read", () =>
  withRecorded(async ({ deps }) => {
    const stats = await sampleContainer(deps, containerId, AbortSignal.timeout(60_000));
    const { counters, ...sample } = stats!;
    deepEqual(sample, {
      cpuPercent: 50,
      cpuSeconds: 2.5,
      memoryUsage: 72_000_000,
      memoryLimit: 268_435_456,
      memoryPercent: 26.82,
      networkRx: 5_338,
      networkTx: 648,
      blockRead: 7_593_984,
      blockWrite: 100,
      pids: 13,
      read: "2026-01-01T00:05:01.000Z",
    });
    deepEqual(counters, {
      cpuUserSeconds: 1.5,
      cpuSystemSeconds: 1,
      cpuPeriods: 4,
      cpuThrottledPeriods: 1,
      cpuThrottledSeconds: 0.05,
      memoryWithCache: 100_000_000,
      memoryRss: 60_000_000,
      memoryCache: 30_000_000,
      memorySwap: null,
      memoryMax: null,
      memoryFailures: null,
      memoryMappedFile: 5_000_000,
      memoryActiveFile: 2_000_000,
      memoryInactiveFile: 28_000_000,
      memoryKernel: 300_000,
      pageFaults: 1_234,
      majorPageFaults: 5,
      interfaces: [{
        name: "eth0",
        receive: { bytes: 5_338, packets: 36, errors: 0, dropped: 1 },
        transmit: { bytes: 648, packets: 8, errors: 0, dropped: 0 },
      }],
      devices: [{
        device: "254:0",
        readBytes: 7_593_984,
        writtenBytes: 100,
        reads: 0,
        writes: 0,
      }],
    });
  }));

Deno.test("recorded API 1.52: disk usage and volumes come from the totals by kind", () =>
  withRecorded(async (app, requests) => {
    const usage = await read(app, "/api/system/disk");
    deepEqual(usage, {
      containers: { count: 1, size: 100 },
      images: { count: 2, size: 12_000_000 },
      volumes: { count: 1, size: 10_920_104 },
      buildCache: { count: 0, size: 0 },
      totalSize: 22_920_204,
      computedAt: "2026-01-01T00:05:02.000Z",
    });
    ok(requests.includes("GET /system/df?verbose=true"), requests.join("\n"));
    const { volumes } = await read(app, "/api/volumes");
    deepEqual(
      volumes.map(({ name, size }: Record<string, unknown>) => [name, size]),
      [["data", 10_920_104]],
    );
  }));

Deno.test("recorded API 1.52: the engine and its networks are described", () =>
  withRecorded(async (app) => {
    const { info } = await read(app, "/api/system/docker");
    deepEqual(
      [info.version, info.apiVersion, info.storageDriver, info.cgroupVersion, info.swarm],
      ["29.1.2", "1.52", "overlayfs", "2", "inactive"],
    );
    deepEqual([info.rootless, info.warnings, info.containers, info.images], [false, [], 1, 2]);
    const { networks } = await read(app, "/api/networks");
    deepEqual(
      networks.map(({ name, subnets, containers }: Record<string, unknown>) => [
        name,
        subnets,
        containers,
      ]),
      [["bridge", ["172.17.0.0/16"], [{
        id: containerId,
        name: "web",
        ipv4: "172.17.0.4",
        ipv6: null,
        mac: "9a:ec:af:8a:ac:81",
      }]]],
    );
  }));

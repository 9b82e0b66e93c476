import { deepEqual, equal, rejects } from "node:assert/strict";
import { insertContainerSample, upsertContainerSeries } from "../../../db/container_samples.ts";
import { insertMetricSample } from "../../../db/metric_samples.ts";
import { previewAlertRule } from "../../../services/alerts/preview.ts";
import type { NewAlertRule } from "../../../services/alerts/rules.ts";
import type { HostSample } from "../../../services/metrics/host/cache.ts";
import { idOf, setContainers } from "../../helpers/fake_containers.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";

const NOW = Date.parse("2026-01-02T00:00:00Z") / 1000;
const HOUR_S = 3_600;

const rule = (fields: Partial<NewAlertRule>): NewAlertRule => ({
  name: "Busy",
  metric: "cpu_percent",
  operator: ">",
  threshold: 90,
  durationSeconds: 60,
  autoIncident: false,
  ...fields,
});

const before = (hours: number) => NOW - Math.round(hours * HOUR_S / 15) * 15;

/** Stores a sample every 15 seconds between two times, in hours before now. */
function storeHost(app: TestApp, fromH: number, toH: number, cpuPercent: number) {
  const { metrics } = app.deps;
  metrics.transaction(() => {
    for (let ts = before(fromH); ts < before(toH); ts += 15) {
      insertMetricSample(metrics, {
        ...{ hostId: "local", ts, cpuPercent, memoryPercent: 10, diskPercent: 10, load1: 1 },
        ...{ containersRunning: 1, containersTotal: 1 },
      });
    }
  });
}

async function setHost(app: TestApp, cpuPercent: number) {
  const timestamp = app.deps.now().toISOString();
  await app.deps.host.refresh(() => Promise.resolve({ cpuPercent, timestamp } as HostSample));
}

Deno.test("a preview counts the firings of a day, with the duration and the cooldown", async () => {
  using app = testApp({ now: "2026-01-02T00:00:00Z" });
  storeHost(app, 23, 20, 10);
  storeHost(app, 20, 19, 95);
  storeHost(app, 19, 18.99, 10);
  // Within the cooldown of the first firing it would not be counted; this is later.
  storeHost(app, 18.99, 18, 99);
  storeHost(app, 18, 0, 10);
  await setHost(app, 12);
  deepEqual(await previewAlertRule(app.deps, rule({})), {
    wouldFire: false,
    value: 12,
    valueText: "12 %",
    since: null,
    firesAt: null,
    firings24h: 2,
    containers: [],
    problem: null,
  });
  equal((await previewAlertRule(app.deps, rule({ durationSeconds: 7_200 }))).firings24h, 0);
});

Deno.test("a preview fires now if the condition has held for its duration", async () => {
  using app = testApp({ now: "2026-01-02T00:00:00Z" });
  storeHost(app, 2, 0.01, 10);
  storeHost(app, 0.01, 0, 95);
  await setHost(app, 95);
  equal((await previewAlertRule(app.deps, rule({ durationSeconds: 30 }))).wouldFire, true);
  const waiting = await previewAlertRule(app.deps, rule({ durationSeconds: 600 }));
  const since = new Date(before(0.01) * 1000).toISOString();
  deepEqual([waiting.wouldFire, waiting.since, waiting.firesAt], [
    false,
    since,
    new Date(Date.parse(since) + 600_000).toISOString(),
  ]);
  equal((await previewAlertRule(app.deps, rule({ threshold: 96 }))).wouldFire, false);
});

Deno.test("a preview of a metric without stored samples counts nothing", async () => {
  using app = testApp({ now: "2026-01-02T00:00:00Z" });
  setContainers(app, { name: "web", state: "exited", exitCode: 1 }, { name: "db" });
  const stopped = rule({ metric: "container_not_running", operator: "==", threshold: 1 });
  deepEqual(await previewAlertRule(app.deps, stopped), {
    wouldFire: true,
    value: 1,
    valueText: "yes",
    since: null,
    firesAt: null,
    firings24h: null,
    containers: ["web"],
    problem: null,
  });
  deepEqual(await previewAlertRule(app.deps, rule({ metric: "pressure_cpu" })), {
    wouldFire: false,
    value: null,
    valueText: null,
    since: null,
    firesAt: null,
    firings24h: null,
    containers: [],
    problem: "Set PROC_PATH to a mount of the host's /proc to read its pressure",
  });
});

Deno.test("a preview of containers adds up their firings", async () => {
  using app = testApp({ now: "2026-01-02T00:00:00Z" });
  const { metrics, stats } = app.deps;
  setContainers(app, { name: "web" }, { name: "db" }, { name: "idle" });
  const sample = (cpuPercent: number) => ({
    ...{ cpuPercent, cpuSeconds: 0, memoryUsage: 500, memoryLimit: 1000, memoryPercent: 50 },
    ...{ networkRx: 0, networkTx: 0, blockRead: 0, blockWrite: 0, pids: 1 },
    read: app.deps.now().toISOString(),
  });
  stats.put(idOf("web"), sample(120));
  stats.put(idOf("db"), sample(95));
  stats.put(idOf("idle"), sample(0));
  metrics.transaction(() => {
    for (const name of ["web", "db", "idle"]) {
      for (let ts = NOW - 2 * HOUR_S; ts < NOW; ts += 60) {
        const series = upsertContainerSeries(metrics, { hostId: "local", name, ts });
        const cpuPercent = name !== "idle" && ts >= NOW - HOUR_S ? 95 : 5;
        insertContainerSample(metrics, {
          ...{ series, ts, cpuPercent, memory: 500 },
          ...{ networkRxPerSecond: name === "web" ? 2_000 : null, networkTxPerSecond: 0 },
          ...{ blockReadPerSecond: null, blockWritePerSecond: null },
        });
      }
    }
    metrics.run("UPDATE container_samples SET resolution = 60");
  });
  const busy = rule({ metric: "container_cpu_percent" });
  const { containers, ...preview } = await previewAlertRule(app.deps, busy);
  deepEqual(preview, {
    wouldFire: true,
    value: 120,
    valueText: "120 %",
    since: null,
    firesAt: null,
    firings24h: 2,
    problem: null,
  });
  deepEqual(containers.sort(), ["db", "web"]);
  const full = rule({ metric: "container_memory_percent", operator: ">=", threshold: 50 });
  const { firings24h, value } = await previewAlertRule(app.deps, full);
  deepEqual([firings24h, value], [3, 50]);
  const loud = rule({ metric: "container_network_bytes_per_second", threshold: 1_000 });
  deepEqual((await previewAlertRule(app.deps, loud)).firings24h, 1);
});

Deno.test("a preview refuses what a new rule must not have", async () => {
  using app = testApp();
  await rejects(
    previewAlertRule(app.deps, rule({ pattern: "x" })),
    /body\.pattern: is not used by cpu_percent/,
  );
});

import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { dirname } from "node:path";
import {
  hostMetrics,
  sampleHost,
  systemSummary,
} from "../../../../services/metrics/host/metrics.ts";
import type { Config } from "../../../../services/config/config.ts";
import type { AppError } from "../../../../services/errors.ts";
import { createHostCache } from "../../../../services/metrics/host/cache.ts";

const NOW = "2026-01-01T00:00:00.000Z";

const depsWith = (procPath: string | null) => ({
  config: { procPath } as Config,
  host: createHostCache(),
  now: () => new Date(NOW),
});

/** A directory that looks like a mounted `/proc`. */
async function procDirectory(files: Record<string, string>) {
  const path = await Deno.makeTempDir({ prefix: "proc-" });
  const write = async (name: string, text: string) => {
    await Deno.mkdir(dirname(`${path}/${name}`), { recursive: true });
    await Deno.writeTextFile(`${path}/${name}`, text);
  };
  for (const [name, text] of Object.entries(files)) await write(name, text);
  return { path, write, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}

const stat = (busy: number, idle: number) =>
  `cpu  ${busy} 0 0 ${idle} 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n`;

const PROC = {
  stat: stat(1000, 1000),
  meminfo: "MemTotal: 1000 kB\nMemAvailable: 250 kB\nSwapTotal: 400 kB\nSwapFree: 100 kB\n",
  loadavg: "0.10 0.20 0.30 1/2 3\n",
  uptime: "12345.67 8.90\n",
  "1/net/dev": "head\nhead\n  eth0: 10 0 0 0 0 0 0 0 20 0 0 0 0 0 0 0\n",
};

Deno.test("the runtime reports processor, memory, disk, load and uptime", async () => {
  const metrics = await hostMetrics(depsWith(null));

  ok(metrics.cpuPercent >= 0 && metrics.cpuPercent <= 100);
  equal(metrics.cpuCount, navigator.hardwareConcurrency);
  const { total, used, available, percent } = metrics.memory;
  equal(used + available, total);
  equal(percent, Math.round(1000 * used / total) / 10);
  equal(metrics.disk.path, "/");
  ok(metrics.disk.used > 0 && metrics.disk.used + metrics.disk.free <= metrics.disk.total);
  equal(metrics.load.length, 3);
  ok(Number.isInteger(metrics.uptimeSeconds) && metrics.uptimeSeconds > 0);
  equal(metrics.timestamp, NOW);
  ok(!("network" in metrics));
  ok(!("cpuTime" in metrics));
});

Deno.test("PROC_PATH gives the host's metrics, including its network", async () => {
  await using proc = await procDirectory(PROC);
  const deps = depsWith(proc.path);
  await sampleHost(deps);
  await proc.write("stat", stat(1250, 1750));
  await sampleHost(deps);

  const { disk: _disk, ...metrics } = await hostMetrics(deps);
  deepEqual(metrics, {
    cpuPercent: 25,
    cpuCount: 2,
    memory: { total: 1_024_000, used: 768_000, percent: 75, available: 256_000 },
    swap: { total: 409_600, used: 307_200, percent: 75, free: 102_400 },
    load: [0.1, 0.2, 0.3],
    uptimeSeconds: 12_345,
    network: [{ name: "eth0", rxBytes: 10, txBytes: 20 }],
    timestamp: NOW,
  });
});

Deno.test("the network is left out if the host's process is not readable", async () => {
  const { "1/net/dev": _, ...files } = PROC;
  await using proc = await procDirectory(files);
  ok(!("network" in await hostMetrics(depsWith(proc.path))));
});

Deno.test("an unreadable PROC_PATH is named in the error", async () => {
  await rejects(
    hostMetrics(depsWith("/nonexistent/proc")),
    (error: AppError) =>
      error.code === "unavailable" &&
      error.message === "PROC_PATH=/nonexistent/proc cannot be read: it does not exist",
  );
});

Deno.test("readers do not shorten the time over which processor use is measured", async () => {
  await using proc = await procDirectory(PROC);
  const deps = depsWith(proc.path);
  await sampleHost(deps);
  const before = deps.host.latest;
  await proc.write("stat", stat(9000, 1000));

  for (let reader = 0; reader < 5; reader++) await hostMetrics(deps);
  equal(deps.host.latest, before);
});

Deno.test("unchanged counters keep the last percentage", async () => {
  await using proc = await procDirectory(PROC);
  const deps = depsWith(proc.path);
  await sampleHost(deps);
  await proc.write("stat", stat(1300, 1100));
  equal((await sampleHost(deps)).cpuPercent, 75);
  equal((await sampleHost(deps)).cpuPercent, 75);
});

Deno.test("concurrent calls share a sample", async () => {
  const deps = depsWith(null);
  const [first, second] = await Promise.all([sampleHost(deps), sampleHost(deps)]);
  equal(first, second);
});

Deno.test("the summary is the metrics without swap, network and time", async () => {
  const deps = depsWith(null);
  const { system, sampledAt } = await systemSummary(deps);
  deepEqual(Object.keys(system).sort(), [
    "cpuCount",
    "cpuPercent",
    "disk",
    "load",
    "memory",
    "uptimeSeconds",
  ]);
  equal(sampledAt, NOW);
});

import { deepEqual, equal } from "node:assert/strict";
import type { ContainerStats as WireStats } from "../../../engine/containers.ts";
import { sampleContainer, toStats } from "../../../services/containers/stats.ts";
import { createStatsCache } from "../../../services/containers/stats_cache.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testClock } from "../../helpers/test_app.ts";

/** As recorded from Docker 20.10 on cgroup v1, shortened. */
const recorded: WireStats = {
  read: "2026-01-01T12:00:02.123456789Z",
  preread: "2026-01-01T12:00:01.123456789Z",
  pids_stats: { current: 3 },
  cpu_stats: {
    cpu_usage: { total_usage: 7_500_000_000 },
    system_cpu_usage: 900_000_000_000,
    online_cpus: 2,
  },
  precpu_stats: { cpu_usage: { total_usage: 7_000_000_000 }, online_cpus: 2 },
  memory_stats: {
    usage: 12_000_000,
    limit: 40_000_000,
    stats: { total_inactive_file: 2_000_000 },
  },
  blkio_stats: {
    io_service_bytes_recursive: [
      { major: 8, minor: 0, op: "Read", value: 100 },
      { major: 8, minor: 0, op: "Write", value: 30 },
      { major: 8, minor: 16, op: "Read", value: 11 },
      { major: 8, minor: 0, op: "Total", value: 141 },
    ],
  },
  networks: {
    eth0: {
      ...{ rx_bytes: 1_000, rx_packets: 1, rx_errors: 0, rx_dropped: 0 },
      ...{ tx_bytes: 500, tx_packets: 1, tx_errors: 0, tx_dropped: 0 },
    },
    eth1: {
      ...{ rx_bytes: 24, rx_packets: 1, rx_errors: 0, rx_dropped: 0 },
      ...{ tx_bytes: 12, tx_packets: 1, tx_errors: 0, tx_dropped: 0 },
    },
  },
};

Deno.test("toStats() of two readings gives what the engine's command line shows", () => {
  deepEqual(toStats(recorded), {
    cpuPercent: 50,
    cpuSeconds: 7.5,
    memoryUsage: 10_000_000,
    memoryLimit: 40_000_000,
    memoryPercent: 25,
    networkRx: 1_024,
    networkTx: 512,
    blockRead: 111,
    blockWrite: 30,
    pids: 3,
    read: "2026-01-01T12:00:02.123Z",
    counters: {
      cpuUserSeconds: null,
      cpuSystemSeconds: null,
      cpuPeriods: 0,
      cpuThrottledPeriods: 0,
      cpuThrottledSeconds: 0,
      memoryWithCache: 12_000_000,
      memoryRss: null,
      memoryCache: null,
      memorySwap: null,
      memoryMax: null,
      memoryFailures: null,
      memoryMappedFile: null,
      memoryActiveFile: null,
      memoryInactiveFile: 2_000_000,
      memoryKernel: null,
      pageFaults: null,
      majorPageFaults: null,
      interfaces: [
        {
          name: "eth0",
          receive: { bytes: 1_000, packets: 1, errors: 0, dropped: 0 },
          transmit: { bytes: 500, packets: 1, errors: 0, dropped: 0 },
        },
        {
          name: "eth1",
          receive: { bytes: 24, packets: 1, errors: 0, dropped: 0 },
          transmit: { bytes: 12, packets: 1, errors: 0, dropped: 0 },
        },
      ],
      devices: [
        { device: "8:0", readBytes: 100, writtenBytes: 30, reads: 0, writes: 0 },
        { device: "8:16", readBytes: 11, writtenBytes: 0, reads: 0, writes: 0 },
      ],
    },
  });
});

Deno.test("toStats() reads the counters of both versions of control groups", () => {
  const of = (stats: Record<string, number>) => {
    const memory_stats = { ...recorded.memory_stats, max_usage: 0, stats };
    const { memoryRss, memoryCache, memorySwap, memoryMax } = toStats({
      ...recorded,
      memory_stats,
    })!.counters!;
    return [memoryRss, memoryCache, memorySwap, memoryMax];
  };
  deepEqual(of({ rss: 1, cache: 2, total_rss: 10, total_cache: 20, total_swap: 30 }), [
    10,
    20,
    30,
    null,
  ]);
  deepEqual(of({ anon: 10, file: 20, inactive_file: 5 }), [10, 20, null, null]);
});

Deno.test("toStats() counts time in seconds and requests to devices", () => {
  const { counters } = toStats({
    ...recorded,
    cpu_stats: {
      cpu_usage: {
        total_usage: 7_500_000_000,
        usage_in_usermode: 5_000_000_000,
        usage_in_kernelmode: 2_500_000_000,
      },
      throttling_data: { periods: 10, throttled_periods: 4, throttled_time: 500_000_000 },
    },
    blkio_stats: {
      io_service_bytes_recursive: null,
      io_serviced_recursive: [
        { major: 8, minor: 0, op: "Read", value: 7 },
        { major: 8, minor: 0, op: "Write", value: 5 },
        { major: 8, minor: 0, op: "Total", value: 12 },
      ],
    },
  })!;
  deepEqual([counters!.cpuUserSeconds, counters!.cpuSystemSeconds], [5, 2.5]);
  deepEqual(
    [counters!.cpuPeriods, counters!.cpuThrottledPeriods, counters!.cpuThrottledSeconds],
    [10, 4, 0.5],
  );
  deepEqual(counters!.devices, [
    { device: "8:0", readBytes: 0, writtenBytes: 0, reads: 7, writes: 5 },
  ]);
});

Deno.test("toStats() of a single reading computes the CPU usage since the previous sample", () => {
  const before = toStats(recorded)!;
  const later: WireStats = {
    ...recorded,
    read: "2026-01-01T12:00:12.123456789Z",
    precpu_stats: {},
    cpu_stats: { ...recorded.cpu_stats, cpu_usage: { total_usage: 22_500_000_000 } },
  };
  equal(toStats(later, before)?.cpuPercent, 150);
});

Deno.test("toStats() of a restarted container does not take its counters for the old ones", () => {
  const before = { ...toStats(recorded)!, cpuSeconds: 1_000, read: "2026-01-01T11:59:00.000Z" };
  equal(toStats(recorded, before)?.cpuPercent, 0);
});

Deno.test("the CPU usage is not computed from an old sample", async () => {
  await using fake = fakeEngine({ "GET /containers/c1/stats": () => Response.json(recorded) });
  const clock = testClock();
  const stats = createStatsCache(clock.now);
  const deps = { engine: fake.engine, stats, now: clock.now };
  const cpuAt = async (time: string) => {
    clock.set(time);
    return (await sampleContainer(deps, "c1", new AbortController().signal))?.cpuPercent;
  };
  stats.put("c1", { ...toStats(recorded)!, cpuSeconds: 0, read: "2026-01-01T11:59:47.123Z" });

  equal(await cpuAt("2026-01-01T12:00:02Z"), 50);
  equal(await cpuAt("2026-01-01T12:10:00Z"), 50);
  deepEqual(fake.requests, [
    "GET /containers/c1/stats?stream=false&one-shot=true",
    "GET /containers/c1/stats?stream=false",
  ]);
});

Deno.test("toStats() reads cgroup v2", () => {
  const stats = toStats({
    ...recorded,
    memory_stats: { usage: 12_000_000, limit: 40_000_000, stats: { inactive_file: 4_000_000 } },
    blkio_stats: {
      io_service_bytes_recursive: [
        { major: 8, minor: 0, op: "read", value: 7 },
        { major: 8, minor: 0, op: "write", value: 5 },
      ],
    },
  });
  deepEqual([stats?.memoryUsage, stats?.blockRead, stats?.blockWrite], [8_000_000, 7, 5]);
});

Deno.test("toStats() is undefined for a container that is not running", () => {
  const stopped: WireStats = {
    read: "0001-01-01T00:00:00Z",
    cpu_stats: { cpu_usage: { total_usage: 0 } },
    memory_stats: {},
  };
  equal(toStats(stopped), undefined);
});

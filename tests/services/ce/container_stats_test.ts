import { deepEqual, equal } from "node:assert/strict";
import type { ContainerStats as WireStats } from "../../../engine/containers.ts";
import { toStats } from "../../../services/ce/container_stats.ts";

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
  });
});

Deno.test("toStats() of a single reading takes the share since the sample before", () => {
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

Deno.test("toStats() has none of a container that does not run", () => {
  const stopped: WireStats = {
    read: "0001-01-01T00:00:00Z",
    cpu_stats: { cpu_usage: { total_usage: 0 } },
    memory_stats: {},
  };
  equal(toStats(stopped), undefined);
});

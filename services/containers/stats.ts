/** Converts the engine's counters of a container to stats. @module */

import {
  type BlkioEntry,
  type ContainerStats as WireStats,
  containerStats,
} from "../../engine/containers.ts";
import type { Deps } from "../deps.ts";
import type {
  ContainerCounters,
  ContainerStats,
  DeviceCounters,
  InterfaceCounters,
} from "./stats_cache.ts";
import { engineTime } from "./engine_time.ts";

const NS_PER_S = 1e9;

/** Timeout of a sample, in milliseconds; the engine usually needs up to two seconds. */
const SAMPLE_TIMEOUT_MS = 20_000;

/** Oldest previous sample from which the current CPU usage is computed, in milliseconds. */
const RECENT_MS = 60_000;

/**
 * Takes a sample of a running container. The CPU usage covers the time since the previous sample.
 * Without one from the last minute the engine takes two readings, which takes a second longer.
 *
 * @returns `undefined` if the container is not running.
 */
export async function sampleContainer(
  { engine, stats, now }: Pick<Deps, "engine" | "stats" | "now">,
  id: string,
  signal: AbortSignal,
): Promise<ContainerStats | undefined> {
  const last = stats.last(id);
  const before = last && now().getTime() - Date.parse(last.read) <= RECENT_MS ? last : undefined;
  const wire = await containerStats(engine, id, {
    oneShot: before !== undefined,
    signal: AbortSignal.any([signal, AbortSignal.timeout(SAMPLE_TIMEOUT_MS)]),
  });
  return toStats(wire, before);
}

/** @param before The previous sample, for the CPU usage. */
export function toStats(wire: WireStats, before?: ContainerStats): ContainerStats | undefined {
  const read = engineTime(wire.read);
  const memory = wire.memory_stats;
  if (read === null || memory.usage === undefined && wire.cpu_stats.cpu_usage.total_usage === 0) {
    return undefined;
  }
  const usage = Math.max(0, (memory.usage ?? 0) - pageCache(memory.stats ?? {}));
  const limit = memory.limit ?? 0;
  const networks = Object.values(wire.networks ?? {});
  return {
    cpuPercent: cpuPercent(wire, before),
    cpuSeconds: wire.cpu_stats.cpu_usage.total_usage / NS_PER_S,
    memoryUsage: usage,
    memoryLimit: limit,
    memoryPercent: limit > 0 ? rounded(usage / limit * 100) : 0,
    networkRx: sum(networks.map((network) => network.rx_bytes)),
    networkTx: sum(networks.map((network) => network.tx_bytes)),
    blockRead: blockBytes(wire, "read"),
    blockWrite: blockBytes(wire, "write"),
    pids: wire.pids_stats?.current ?? wire.num_procs ?? 0,
    read,
    counters: countersOf(wire),
  };
}

/** Reads the counters under the names of both versions of control groups. */
function countersOf(wire: WireStats): ContainerCounters {
  const { usage_in_usermode: user, usage_in_kernelmode: kernel } = wire.cpu_stats.cpu_usage;
  const { throttling_data: throttling } = wire.cpu_stats;
  const memory = wire.memory_stats;
  const stats = memory.stats ?? {};
  return {
    cpuUserSeconds: user === undefined ? null : user / NS_PER_S,
    cpuSystemSeconds: kernel === undefined ? null : kernel / NS_PER_S,
    cpuPeriods: throttling?.periods ?? 0,
    cpuThrottledPeriods: throttling?.throttled_periods ?? 0,
    cpuThrottledSeconds: (throttling?.throttled_time ?? 0) / NS_PER_S,
    memoryWithCache: memory.usage ?? 0,
    memoryRss: stats.total_rss ?? stats.anon ?? null,
    memoryCache: stats.total_cache ?? stats.file ?? null,
    memorySwap: stats.total_swap ?? null,
    memoryMax: memory.max_usage || null,
    memoryFailures: memory.failcnt ?? null,
    memoryMappedFile: stats.total_mapped_file ?? stats.file_mapped ?? null,
    memoryActiveFile: stats.total_active_file ?? stats.active_file ?? null,
    memoryInactiveFile: stats.total_inactive_file ?? stats.inactive_file ?? null,
    memoryKernel: stats.kernel ??
      (stats.kernel_stack === undefined ? null : stats.kernel_stack + (stats.slab ?? 0)),
    pageFaults: stats.total_pgfault ?? stats.pgfault ?? null,
    majorPageFaults: stats.total_pgmajfault ?? stats.pgmajfault ?? null,
    interfaces: interfacesOf(wire),
    devices: devicesOf(wire),
  };
}

function interfacesOf(wire: WireStats): InterfaceCounters[] {
  return Object.entries(wire.networks ?? {}).map(([name, counted]) => ({
    name,
    receive: {
      bytes: counted.rx_bytes,
      packets: counted.rx_packets,
      errors: counted.rx_errors,
      dropped: counted.rx_dropped,
    },
    transmit: {
      bytes: counted.tx_bytes,
      packets: counted.tx_packets,
      errors: counted.tx_errors,
      dropped: counted.tx_dropped,
    },
  }));
}

type BlkioFields = Record<string, Exclude<keyof DeviceCounters, "device">>;

function devicesOf({ blkio_stats: stats }: WireStats): DeviceCounters[] {
  const devices = new Map<string, DeviceCounters>();
  const count = (entries: readonly BlkioEntry[] | null | undefined, fields: BlkioFields) => {
    for (const { major, minor, op, value } of entries ?? []) {
      const field = fields[op.toLowerCase()];
      if (field === undefined) continue;
      const device = `${major}:${minor}`;
      const counters = devices.get(device) ??
        { device, readBytes: 0, writtenBytes: 0, reads: 0, writes: 0 };
      counters[field] += value;
      devices.set(device, counters);
    }
  };
  count(stats?.io_service_bytes_recursive, { read: "readBytes", write: "writtenBytes" });
  count(stats?.io_serviced_recursive, { read: "reads", write: "writes" });
  return [...devices.values()];
}

/** 100 is one core. */
function cpuPercent(wire: WireStats, before: ContainerStats | undefined): number {
  const total = wire.cpu_stats.cpu_usage.total_usage;
  if (before) {
    const seconds = (Date.parse(wire.read) - Date.parse(before.read)) / 1000;
    const used = total / NS_PER_S - before.cpuSeconds;
    // The counter was reset by a restart of the container.
    return seconds > 0 && used >= 0 ? rounded(used / seconds * 100) : 0;
  }
  const previous = wire.precpu_stats?.cpu_usage?.total_usage;
  const seconds = wire.preread ? (Date.parse(wire.read) - Date.parse(wire.preread)) / 1000 : 0;
  if (previous === undefined || !(seconds > 0) || seconds > 3_600) return 0;
  return rounded(Math.max(0, total - previous) / NS_PER_S / seconds * 100);
}

/** Reclaimable file pages, which the engine's command line subtracts from the usage as well. */
function pageCache(stats: Record<string, number>): number {
  return stats.total_inactive_file ?? stats.inactive_file ?? 0;
}

function blockBytes(wire: WireStats, op: string): number {
  const entries = wire.blkio_stats?.io_service_bytes_recursive ?? [];
  return sum(entries.filter((entry) => entry.op.toLowerCase() === op).map(({ value }) => value));
}

const sum = (values: number[]) => values.reduce((a, b) => a + b, 0);
const rounded = (value: number) => Math.round(value * 100) / 100;

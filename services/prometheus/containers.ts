/**
 * Metrics of containers, with the names and labels of cAdvisor
 * (https://github.com/google/cadvisor/blob/master/docs/storage/prometheus.md), so that its
 * dashboards work. Other metrics are named `longshore_container_...` and have the same labels.
 *
 * @module
 */

import type { Container } from "../containers/inventory.ts";
import type {
  ContainerCounters,
  ContainerStats,
  DeviceCounters,
  StatsCache,
  TrafficCounters,
} from "../containers/stats_cache.ts";
import { CPU_PERIOD_US } from "../containers/record.ts";
import {
  type ContainerLabels,
  type EngineKind,
  type ExportedContainer,
  familyOf,
  type Values,
} from "./container_series.ts";
import { type Family, flag, unixSeconds } from "./family.ts";

export function containerFamilies(
  { containers, labelsOf, stats, kind, now }: {
    containers: readonly Container[];
    labelsOf: ContainerLabels;
    stats: Pick<StatsCache, "get" | "last" | "size">;
    kind: EngineKind;
    now: Date;
  },
): Family[] {
  const all = containers.map((container): ExportedContainer => ({
    container,
    sharedLabels: labelsOf(container, kind),
    // Not every engine reports stats of a paused container, whose counters do not change.
    stats: container.state === "paused" ? stats.last(container.id) : stats.get(container.id),
  }));
  const running = all.filter(({ container: { state } }) =>
    state === "running" || state === "paused"
  );
  const seenAt = now.getTime() / 1000;

  return [
    ...presence(running, seenAt),
    ...limits(running),
    familyOf(running)(
      "container_fs_usage_bytes",
      "Bytes used in the file system; for a container, in its writable layer",
      ({ container: { id } }) => {
        const value = stats.size(id);
        return value === undefined ? null : [{ labels: { device: "" }, value }];
      },
    ),
    ...sampled(running.filter(({ stats }) => stats !== undefined)),
    ...ownFamilies(all),
  ];
}

function presence(running: ExportedContainer[], seenAt: number): Family[] {
  const of = familyOf(running);
  return [
    of("container_last_seen", "Last time the container was seen, in Unix seconds", () => seenAt),
    of(
      "container_start_time_seconds",
      "Start time of the container, in Unix seconds",
      ({ container }) => container.startedAt === null ? null : unixSeconds(container.startedAt),
    ),
  ];
}

function limits(running: ExportedContainer[]): Family[] {
  const of = familyOf(running);
  const limit = ({ container }: ExportedContainer) => container.details.limits;
  return [
    of(
      "container_spec_memory_limit_bytes",
      "Memory limit of the container; 0 without a limit",
      (one) => limit(one).memoryBytes ?? 0,
    ),
    of(
      "container_threads_max",
      "Limit of processes and threads in the container; missing without a limit",
      (one) => limit(one).pids,
    ),
    of(
      "container_spec_cpu_period",
      "Period of the CPU limit, in microseconds",
      (one) => limit(one).cpus === null ? null : CPU_PERIOD_US,
    ),
    of(
      "container_spec_cpu_quota",
      "CPU time allowed in each period, in microseconds",
      (one) => limit(one).cpus === null ? null : Math.round(limit(one).cpus! * CPU_PERIOD_US),
    ),
  ];
}

/** Metrics that are a single counter of the engine's stats. */
const COUNTERS: readonly [
  name: string,
  help: string,
  counter: Exclude<keyof ContainerCounters, "devices" | "interfaces">,
][] = [
  [
    "container_cpu_user_seconds_total",
    "CPU time used by the container in user mode",
    "cpuUserSeconds",
  ],
  [
    "container_cpu_system_seconds_total",
    "CPU time used by the container in kernel mode",
    "cpuSystemSeconds",
  ],
  ["container_memory_usage_bytes", "Memory in use, including page cache", "memoryWithCache"],
  ["container_memory_rss", "Anonymous memory in use, in bytes", "memoryRss"],
  ["container_memory_cache", "Page cache of the container, in bytes", "memoryCache"],
  ["container_memory_swap", "Swap in use by the container, in bytes", "memorySwap"],
  ["container_memory_max_usage_bytes", "Maximum memory in use", "memoryMax"],
  ["container_memory_failcnt", "Times that memory use reached the limit", "memoryFailures"],
  ["container_memory_mapped_file", "Memory of mapped files, in bytes", "memoryMappedFile"],
  ["container_memory_total_active_file_bytes", "Page cache in active use", "memoryActiveFile"],
  [
    "container_memory_total_inactive_file_bytes",
    "Page cache that can be freed immediately",
    "memoryInactiveFile",
  ],
  ["container_memory_kernel_usage", "Kernel memory of the container, in bytes", "memoryKernel"],
];

/** Metrics from the last stats sample. */
function sampled(running: ExportedContainer[]): Family[] {
  const of = familyOf(running);
  const stat = (read: (stats: ContainerStats) => number): Values => ({ stats }) => read(stats!);
  const limited =
    (read: (counters: ContainerCounters) => number): Values => ({ container, stats }) =>
      container.details.limits.cpus !== null && stats!.counters ? read(stats!.counters) : null;

  return [
    of(
      "container_cpu_usage_seconds_total",
      "CPU time used by the container",
      ({ stats }) => [{ labels: CPU_TOTAL, value: stats!.cpuSeconds }],
    ),
    ...COUNTERS.map(([name, help, counter]) =>
      of(name, help, ({ stats }) => stats!.counters?.[counter] ?? null)
    ),
    of(
      "container_cpu_cfs_periods_total",
      "Periods in which the CPU limit was enforced",
      limited(({ cpuPeriods }) => cpuPeriods),
    ),
    of(
      "container_cpu_cfs_throttled_periods_total",
      "Periods in which the container was throttled",
      limited(({ cpuThrottledPeriods }) => cpuThrottledPeriods),
    ),
    of(
      "container_cpu_cfs_throttled_seconds_total",
      "Time for which the container was throttled",
      limited(({ cpuThrottledSeconds }) => cpuThrottledSeconds),
    ),
    of(
      "container_memory_working_set_bytes",
      "Memory in use, without page cache that can be freed immediately",
      stat(({ memoryUsage }) => memoryUsage),
    ),
    of(
      "container_memory_failures_total",
      "Page faults of the container",
      ({ stats }) =>
        PAGE_FAULTS.flatMap(([failure_type, read]) => {
          const value = stats!.counters && read(stats!.counters);
          return typeof value === "number"
            ? [{ labels: { failure_type, scope: "hierarchy" }, value }]
            : [];
        }),
    ),
    of("container_threads", "Processes and threads in the container", stat(({ pids }) => pids)),
    ...traffic(of, "receive", "received"),
    ...traffic(of, "transmit", "sent"),
    of(
      "container_fs_reads_bytes_total",
      "Bytes read from block devices",
      devices(({ readBytes }) => readBytes),
    ),
    of(
      "container_fs_writes_bytes_total",
      "Bytes written to block devices",
      devices(({ writtenBytes }) => writtenBytes),
    ),
    of(
      "container_blkio_device_usage_total",
      "Bytes read from and written to each block device",
      ({ stats }) =>
        (stats!.counters?.devices ?? []).flatMap(({ device, readBytes, writtenBytes }) => [
          { labels: { ...numbersOf(device), operation: "Read" }, value: readBytes },
          { labels: { ...numbersOf(device), operation: "Write" }, value: writtenBytes },
        ]),
    ),
    of("container_fs_reads_total", "Reads from block devices", devices(({ reads }) => reads)),
    of("container_fs_writes_total", "Writes to block devices", devices(({ writes }) => writes)),
  ];
}

const PAGE_FAULTS: readonly [string, (counters: ContainerCounters) => number | null][] = [
  ["pgfault", ({ pageFaults }) => pageFaults],
  ["pgmajfault", ({ majorPageFaults }) => majorPageFaults],
];

const CPU_TOTAL = { cpu: "total" };

function traffic(
  of: ReturnType<typeof familyOf>,
  direction: "receive" | "transmit",
  verb: string,
): Family[] {
  const each = (read: (counters: TrafficCounters) => number): Values => ({ stats }) =>
    (stats!.counters?.interfaces ?? []).map((one) => ({
      labels: { interface: one.name },
      value: read(one[direction]),
    }));
  const name = (what: string) => `container_network_${direction}_${what}_total`;
  return [
    of(name("bytes"), `Bytes ${verb}`, each(({ bytes }) => bytes)),
    of(name("packets"), `Packets ${verb}`, each(({ packets }) => packets)),
    of(
      name("errors"),
      `Packets not ${verb} because of errors`,
      each(({ errors }) => errors),
    ),
    of(
      name("packets_dropped"),
      `Packets dropped instead of ${verb}`,
      each(({ dropped }) => dropped),
    ),
  ];
}

function numbersOf(device: string) {
  const [major = "", minor = ""] = device.split(":");
  return { device, major, minor };
}

/** Like cAdvisor, a container that has not used any device has one series with the value 0. */
function devices(read: (counters: DeviceCounters) => number): Values {
  return ({ stats }) => {
    const { devices } = stats!.counters ?? { devices: [] };
    if (devices.length === 0) return [{ labels: { device: "" }, value: 0 }];
    return devices.map((one) => ({ labels: { device: one.device }, value: read(one) }));
  };
}

function ownFamilies(all: ExportedContainer[]): Family[] {
  const of = familyOf(all);
  return [
    of(
      "longshore_container_running",
      "Whether the container is running",
      ({ container }) => flag(container.state === "running"),
    ),
    of(
      "longshore_container_unhealthy",
      "Whether the health check fails; missing without a health check",
      ({ container }) => container.health === null ? null : flag(container.health === "unhealthy"),
    ),
    of(
      "longshore_container_restarts_total",
      "Restarts of the container by its restart policy",
      ({ container }) => container.restartCount,
    ),
    of(
      "longshore_container_exit_code",
      "Exit status of a container that is not running",
      ({ container }) => container.exitCode,
    ),
    of(
      "longshore_container_oom_killed",
      "Whether the last run of the container ended because it was out of memory",
      ({ container }) => flag(container.details.oomKilled),
    ),
  ];
}

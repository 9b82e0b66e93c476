/** Comparisons of a service's limits and devices in the plan. @module */

import { type DeviceRequest, deviceRequests } from "../deploy/host_config.ts";
import { type Comparison, entries } from "./comparison.ts";

/** Sizes that Docker and Podman use if `shm_size` is not given, in bytes. */
const SHM_SIZES = [64 * 1024 ** 2, 64_000 * 1024];

/** The limit of processes that Podman sets by itself. */
const PODMAN_PIDS = 2048;

export const RESOURCE_COMPARISONS: Readonly<Record<string, Comparison>> = {
  blkio_config: {
    wanted: ({ blkio_config: { weight, weight_device, ...rates } = {} }) => ({
      ...(weight ? { weight: String(weight) } : {}),
      ...byDevice("weight", weight_device, ({ path, weight }) => [path, weight]),
      ...Object.assign(
        {},
        ...Object.entries(rates).map(([kind, list]) =>
          byDevice(kind.slice("device_".length), list, ({ path, rate }) => [path, rate])
        ),
      ),
    }),
    found: (_, host) => ({
      ...(host.BlkioWeight ? { weight: String(host.BlkioWeight) } : {}),
      ...foundByDevice("weight", host.BlkioWeightDevice, "Weight"),
      ...foundByDevice("read_bps", host.BlkioDeviceReadBps, "Rate"),
      ...foundByDevice("read_iops", host.BlkioDeviceReadIOps, "Rate"),
      ...foundByDevice("write_bps", host.BlkioDeviceWriteBps, "Rate"),
      ...foundByDevice("write_iops", host.BlkioDeviceWriteIOps, "Rate"),
    }),
  },
  cpu_count: { wanted: ({ cpu_count }) => cpu_count, found: (_, host) => count(host.CpuCount) },
  cpu_percent: {
    wanted: ({ cpu_percent }) => cpu_percent,
    found: (_, host) => count(host.CpuPercent),
  },
  // Podman describes each of both forms as both.
  cpu_period: {
    wanted: ({ cpu_period }) => cpu_period,
    found: (_, __, { HostConfig: { CpuPeriod, NanoCpus } }, { service }) =>
      service.cpu_period === undefined && service.cpu_quota === undefined && NanoCpus
        ? undefined
        : CpuPeriod,
  },
  cpu_quota: {
    wanted: ({ cpu_quota }) => cpu_quota,
    found: (_, __, { HostConfig: { CpuQuota, NanoCpus } }, { service }) =>
      service.cpu_quota === undefined && NanoCpus ? undefined : CpuQuota,
  },
  cpus: {
    wanted: ({ cpus, deploy }) => cpus ?? deploy?.resources?.limits?.cpus,
    found: (_, __, { HostConfig: { CpuQuota, NanoCpus = 0 } }, { service }) =>
      service.cpu_quota !== undefined && CpuQuota ? undefined : NanoCpus / 1e9,
  },
  devices: {
    wanted: ({ devices = [] }) =>
      entries(
        devices.filter(({ target }) => target !== undefined)
          .map(({ source, target = source, permissions = "rwm" }) =>
            [source, target, permissions].join(":")
          ),
      ),
    found: (_, __, { HostConfig: { Devices } }, { service: { devices = [] } }) =>
      entries(
        Devices?.map(({ PathOnHost, PathInContainer, CgroupPermissions }) => {
          // Podman does not describe permissions.
          const given = devices.find(({ source, target }) =>
            source === PathOnHost && target === PathInContainer
          );
          const permissions = CgroupPermissions || given?.permissions || "rwm";
          return [PathOnHost, PathInContainer, permissions].join(":");
        }),
      ),
  },
  gpus: {
    wanted: (service) => entries(deviceRequests(service)?.map(deviceText)),
    found: (_, { DeviceRequests }) =>
      entries(DeviceRequests?.map((request) => deviceText(request as DeviceRequest))),
  },
  mem_limit: {
    wanted: ({ mem_limit, deploy }) => bytes(mem_limit ?? deploy?.resources?.limits?.memory),
    found: (_, { Memory }) => Memory,
  },
  mem_reservation: {
    wanted: ({ mem_reservation, deploy }) =>
      bytes(mem_reservation ?? deploy?.resources?.reservations?.memory),
    found: (_, { MemoryReservation }) => MemoryReservation,
  },
  mem_swappiness: {
    wanted: ({ mem_swappiness }) => mem_swappiness,
    found: (_, { MemorySwappiness }) => count(MemorySwappiness),
  },
  memswap_limit: {
    wanted: ({ memswap_limit }) => bytes(memswap_limit),
    // Without the key, the engine allows as much swap as memory.
    found: (_, { MemorySwap, Memory = 0 }, __, { service, defaults: { info } }) =>
      (service.memswap_limit === undefined && MemorySwap === 2 * Memory) ||
        // A host that cannot limit swap has no limit.
        info?.SwapLimit === false
        ? undefined
        : MemorySwap,
  },
  pids_limit: {
    wanted: ({ pids_limit, deploy }) => limit(pids_limit ?? deploy?.resources?.limits?.pids),
    found: (_, { PidsLimit }, __, { service }) =>
      service.pids_limit === undefined && PidsLimit === PODMAN_PIDS ? undefined : limit(PidsLimit),
  },
  shm_size: {
    wanted: ({ shm_size }) => bytes(shm_size),
    found: (_, { ShmSize = 0 }, __, { service }) =>
      service.shm_size === undefined && SHM_SIZES.includes(ShmSize) ? undefined : ShmSize,
  },
  ulimits: {
    wanted: ({ ulimits = {} }) =>
      Object.fromEntries(
        Object.entries(ulimits).map(([name, limit]) => {
          const { soft, hard } = typeof limit === "number" ? { soft: limit, hard: limit } : limit;
          return [name, `${soft}:${hard}`];
        }),
      ),
    // As described, because a request does not show which of them Podman set by itself.
    found: (_, __, { HostConfig: { Ulimits } }, { service }) =>
      Object.fromEntries(
        (Ulimits ?? []).map(({ Name = "", Soft, Hard }) =>
          [Name.toLowerCase().replace(/^rlimit_/, ""), `${Soft}:${Hard}`, Name] as const
        )
          // Podman sets some by itself.
          .filter(([name, , written]) =>
            !written.startsWith("RLIMIT_") || Object.hasOwn(service.ulimits ?? {}, name)
          ),
      ),
  },
};

const bytes = (size: string | undefined) => size === undefined ? undefined : Number(size);

/** `0` and `-1` mean "unlimited". */
const limit = (count: number | null | undefined) => count && count > 0 ? count : undefined;

/** Engines describe what is not given as `null`, `0` or `-1`. */
const count = (value: unknown) => typeof value === "number" && value > 0 ? value : undefined;

const deviceText = ({ Driver, Count, DeviceIDs, Capabilities, Options }: DeviceRequest) =>
  [
    Driver ?? "",
    Count ? (Count === -1 ? "all" : `${Count}`) : "",
    ...DeviceIDs ?? [],
    ...(Capabilities ?? []).flat().sort(),
    ...Object.entries(Options ?? {}).map((option) => option.join("=")),
  ].filter(Boolean).join(" ");

function byDevice<Entry>(
  kind: string,
  list: readonly Entry[] | undefined,
  read: (entry: Entry) => readonly [path: string | undefined, value: string | number | undefined],
): Record<string, string> {
  return Object.fromEntries((list ?? []).map((entry) => {
    const [path, value] = read(entry);
    return [`${kind} ${path}`, String(value)];
  }));
}

const foundByDevice = (kind: string, list: unknown[] | null | undefined, field: string) =>
  byDevice(kind, list as Record<string, string>[], (entry) => [entry.Path, entry[field]]);

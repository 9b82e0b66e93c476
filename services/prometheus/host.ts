/**
 * Metrics of the host, with the names and labels of node_exporter and, for `container_fs_*` and
 * `machine_*`, of cAdvisor.
 *
 * @module
 */

import { nodeOs } from "../builtins.ts";
import type { HostSample, KernelFigures } from "../metrics/host/cache.ts";
import { type Family, info, metric, type Series } from "./family.ts";

/** File systems without a block device, which are reported with their type as device. */
const WITHOUT_DEVICE = new Set(["overlay", "tmpfs", "aufs"]);

export function hostFamilies(
  { sample, hostName, now }: { sample: HostSample; hostName: string; now: Date },
): Family[] {
  const { kernel } = sample;
  return [
    ...(kernel ? processors(kernel) : []),
    metric("node_load1", "Load average over 1 minute", sample.load[0]),
    metric("node_load5", "Load average over 5 minutes", sample.load[1]),
    metric("node_load15", "Load average over 15 minutes", sample.load[2]),
    ...memory(sample),
    ...filesystem(sample),
    ...network(sample),
    ...containerFileSystem(sample),
    ...(kernel
      ? [metric("node_boot_time_seconds", "Start of the host, in Unix seconds", kernel.bootedAt)]
      : []),
    metric("node_time_seconds", "Time of the host, in Unix seconds", now.getTime() / 1000),
    info("node_uname_info", "The host's name and kernel", {
      sysname: "Linux",
      release: nodeOs().release(),
      machine: Deno.build.arch,
      nodename: hostName,
      domainname: "(none)",
    }),
    metric("machine_cpu_cores", "Processor cores of the host", sample.cpuCount),
    metric("machine_memory_bytes", "Memory of the host", sample.memory.total),
  ];
}

function processors({ cores }: KernelFigures): Family[] {
  const values = cores.flatMap((core, at): Series[] =>
    Object.entries(core).map(([mode, value]) => ({ labels: { cpu: String(at), mode }, value }))
  );
  return [metric("node_cpu_seconds_total", "Time of each core in each mode", values)];
}

function memory({ memory, swap, kernel }: HostSample): Family[] {
  const sizes: [name: string, help: string, bytes: number | null | undefined][] = [
    ["MemTotal", "Memory", memory.total],
    ["MemFree", "Unused memory", kernel?.memory.free],
    ["MemAvailable", "Memory available for new programs", memory.available],
    ["Buffers", "Memory used for block device buffers", kernel?.memory.buffers],
    ["Cached", "Memory used for the page cache", kernel?.memory.cached],
    ["SwapTotal", "Swap", swap.total],
    ["SwapFree", "Unused swap", swap.free],
  ];
  return sizes.flatMap(([name, help, bytes]) =>
    bytes === undefined || bytes === null ? [] : [metric(`node_memory_${name}_bytes`, help, bytes)]
  );
}

function filesystem({ disk, kernel }: HostSample): Family[] {
  const fstype = kernel?.filesystem.type ?? "unknown";
  const labels = { device: deviceOf(fstype), fstype, mountpoint: disk.path };
  const of = (name: string, help: string, value: number) =>
    metric(`node_filesystem_${name}`, help, [{ labels, value }]);
  return [
    of("size_bytes", "Size of the file system", disk.total),
    of("device_error", "Whether reading the file system failed", 0),
    of("avail_bytes", "Bytes available to users other than root", disk.free),
    ...(kernel
      ? [
        of("free_bytes", "Bytes available to root", kernel.filesystem.free),
        of("files", "Limit of files in the file system", kernel.filesystem.files),
        of("files_free", "Files that can still be created", kernel.filesystem.filesFree),
      ]
      : []),
  ];
}

/** `/dev/root` is the kernel's name for the boot device; the actual name is unknown. */
const deviceOf = (fstype: string) => WITHOUT_DEVICE.has(fstype) ? fstype : "/dev/root";

/** Like cAdvisor's series of the root control group, which represent the host. */
function containerFileSystem({ disk, kernel }: HostSample): Family[] {
  const labels = { id: "/", device: deviceOf(kernel?.filesystem.type ?? "unknown") };
  const of = (name: string, help: string, value: number) => metric(name, help, [{ labels, value }]);
  return [
    of(
      "container_fs_usage_bytes",
      "Bytes used in the file system; for a container, in its writable layer",
      disk.used,
    ),
    of("container_fs_limit_bytes", "Size of the host's file system", disk.total),
  ];
}

/** Available only with a mounted `/proc` of the host. */
function network({ network }: HostSample): Family[] {
  if (!network) return [];
  const labels = network.map(({ name }) => ({ device: name }));
  return [
    metric(
      "node_network_receive_bytes_total",
      "Bytes received",
      network.map(({ rxBytes }, at) => ({ labels: labels[at]!, value: rxBytes })),
    ),
    metric(
      "node_network_transmit_bytes_total",
      "Bytes sent",
      network.map(({ txBytes }, at) => ({ labels: labels[at]!, value: txBytes })),
    ),
  ];
}

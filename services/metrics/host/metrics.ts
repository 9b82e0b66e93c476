/**
 * Metrics of the host: processor, memory, swap, disk, load, uptime, network.
 *
 * They come from the runtime, or with `PROC_PATH` from a mounted `/proc` of the host, which also has
 * network counters. No process is started.
 *
 * @module
 */

import { nodeFs, nodeOs } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { CoreTime, CpuTime, HostSample, KernelFigures, Usage } from "./cache.ts";
import {
  type MemoryInfo,
  parseBootTime,
  parseCores,
  parseLoadavg,
  parseMeminfo,
  parseNetDev,
  parseStat,
  parseUptime,
} from "./proc_text.ts";
import { sleep } from "../../waiting.ts";
import { systemReason } from "../../text/system_reason.ts";

/** The host's metrics in API responses. */
type HostMetrics = Omit<HostSample, "cpuTime" | "kernel" | "network"> & {
  /** Only with `PROC_PATH`, if the counters are readable. */
  network?: NonNullable<HostSample["network"]>;
};

/** The host's metrics in the overview and in stream frames. */
export type SystemSummary = Omit<HostMetrics, "swap" | "network" | "timestamp">;

/**
 * The filesystem that is measured. Inside a container it is the one with the engine's images and
 * containers, which is the one that fills up.
 */
const DISK_PATH = "/";

/** Names of filesystems by their type number, see statfs(2). */
const FILESYSTEMS: Record<number, string> = {
  0xef53: "ext4",
  0x58465342: "xfs",
  0x9123683e: "btrfs",
  0x2fc12fc1: "zfs",
  0xf2f52010: "f2fs",
  0xca451a4e: "bcachefs",
  0x794c7630: "overlay",
  0x01021994: "tmpfs",
  0x6969: "nfs",
  0x73717368: "squashfs",
  0x61756673: "aufs",
};

/** Time between the two CPU readings of the first sample, in milliseconds. */
const FIRST_READING_MS = 200;

type HostDeps = Pick<Deps, "config" | "host" | "now">;

/**
 * The last sample of the host's metrics. Takes a sample if there is none yet.
 *
 * @throws {AppError} `unavailable` when `PROC_PATH` cannot be read.
 */
export async function hostMetrics(deps: HostDeps): Promise<HostMetrics> {
  const sample = deps.host.latest ?? await sampleHost(deps);
  const { cpuTime: _cpuTime, kernel: _kernel, network, ...metrics } = sample;
  return network === null ? metrics : { ...metrics, network };
}

/** The part of the metrics that the overview and the stream show. */
export async function systemSummary(
  deps: HostDeps,
): Promise<{ system: SystemSummary; sampledAt: string }> {
  const { swap: _swap, network: _network, timestamp, ...system } = await hostMetrics(deps);
  return { system, sampledAt: timestamp };
}

/**
 * Takes a new sample. Concurrent calls share it.
 *
 * @throws {AppError} `unavailable` when `PROC_PATH` cannot be read.
 */
export function sampleHost({ config, host, now }: HostDeps): Promise<HostSample> {
  const read = config.procPath === null ? readRuntime : () => readProc(config.procPath!);
  return host.refresh(async (before) => {
    const cpuBefore = before?.cpuTime ?? await readFirstCpuTime(read);
    const [reading, { disk, filesystem }] = await Promise.all([read(), diskUsage()]);
    const { cpuTime, cpuCount, memory, load, uptimeSeconds, network, cores } = reading;
    const { total, free, available, buffers, cached, swapTotal, swapFree } = memory;
    const at = now();
    return {
      cpuPercent: busyPercent(cpuBefore, cpuTime) ?? before?.cpuPercent ?? 0,
      cpuCount,
      memory: { ...usage(total, total - available), available },
      swap: { ...usage(swapTotal, swapTotal - swapFree), free: swapFree },
      disk,
      load,
      uptimeSeconds,
      network,
      cpuTime,
      kernel: {
        cores,
        memory: { free, buffers, cached },
        filesystem,
        bootedAt: reading.bootedAt ??
          stableBootTime(at.getTime() / 1000 - uptimeSeconds, before?.kernel?.bootedAt),
      },
      timestamp: at.toISOString(),
    };
  });
}

/** Raw values read from the host. */
interface HostReading {
  cpuTime: CpuTime;
  cpuCount: number;
  memory: MemoryInfo;
  load: [number, number, number];
  uptimeSeconds: number;
  network: HostSample["network"];
  cores: CoreTime[];
  /** Unix seconds; `undefined` if unknown. */
  bootedAt: number | undefined;
}

async function readFirstCpuTime(read: () => Promise<HostReading>): Promise<CpuTime> {
  const { cpuTime } = await read();
  await sleep(FIRST_READING_MS);
  return cpuTime;
}

/** Reads the host through the runtime, which has no network counters. */
function readRuntime(): Promise<HostReading> {
  const times = nodeOs().cpus().map(({ times }) => times);
  let busy = 0;
  let idle = 0;
  for (const time of times) {
    busy += time.user + time.nice + time.sys + time.irq;
    idle += time.idle;
  }
  const { total, free, available, buffers, swapTotal, swapFree } = Deno.systemMemoryInfo();
  const [one = 0, five = 0, fifteen = 0] = Deno.loadavg();
  return Promise.resolve({
    cpuTime: { busy, total: busy + idle },
    cpuCount: times.length,
    // The runtime reports 0 cached bytes on every Linux.
    memory: { total, free, available, buffers, cached: null, swapTotal, swapFree },
    load: [round(one, 2), round(five, 2), round(fifteen, 2)],
    uptimeSeconds: Deno.osUptime(),
    network: null,
    // In milliseconds; some modes are missing.
    cores: times.map(({ user, nice, sys, idle, irq }) => ({
      user: user / 1000,
      nice: nice / 1000,
      system: sys / 1000,
      idle: idle / 1000,
      irq: irq / 1000,
    })),
    bootedAt: undefined,
  });
}

/** Reads the host through a mount of its `/proc`. */
async function readProc(procPath: string): Promise<HostReading> {
  const read = (name: string) => Deno.readTextFile(`${procPath}/${name}`);
  try {
    const stat = await read("stat");
    const meminfo = await read("meminfo");
    const loadavg = await read("loadavg");
    const uptime = await read("uptime");
    // `net` links to `self/net`, the network of this process; process 1 has the host's network.
    const netDev = await read("1/net/dev").catch(() => undefined);
    return {
      ...parseStat(stat),
      memory: parseMeminfo(meminfo),
      load: parseLoadavg(loadavg),
      uptimeSeconds: Math.floor(parseUptime(uptime)),
      network: netDev === undefined ? null : parseNetDev(netDev),
      cores: parseCores(stat),
      bootedAt: parseBootTime(stat),
    };
  } catch (cause) {
    throw new AppError(
      "unavailable",
      `PROC_PATH=${procPath} cannot be read: ${systemReason(cause)}`,
      { cause },
    );
  }
}

/**
 * Usage of a filesystem as `df` counts it: space reserved for root is neither used nor free.
 *
 * @param path Any path in it; default: {@linkcode DISK_PATH}.
 * @throws The error of the file system.
 */
export async function diskUsage(path = DISK_PATH): Promise<{
  disk: HostSample["disk"];
  filesystem: KernelFigures["filesystem"];
}> {
  const { blocks, bfree, bavail, bsize, type, files, ffree } = await nodeFs().promises
    .statfs(path);
  const used = (blocks - bfree) * bsize;
  const free = bavail * bsize;
  return {
    disk: {
      path,
      total: blocks * bsize,
      used,
      free,
      percent: percent(used, used + free),
    },
    filesystem: {
      type: FILESYSTEMS[type] ?? "unknown",
      free: bfree * bsize,
      files,
      filesFree: ffree,
    },
  };
}

/** The boot time in Unix seconds. Rounding differences of a second or two do not change it. */
function stableBootTime(computed: number, known: number | undefined): number {
  return known !== undefined && Math.abs(computed - known) < 3 ? known : Math.round(computed);
}

function usage(total: number, used: number): Usage {
  return { total, used, percent: percent(used, total) };
}

/** The processor use between two readings; `undefined` if the counters have not moved. */
export function busyPercent(before: CpuTime, after: CpuTime): number | undefined {
  const total = after.total - before.total;
  if (total <= 0) return undefined;
  return Math.min(100, Math.max(0, percent(after.busy - before.busy, total)));
}

function percent(part: number, whole: number): number {
  return whole === 0 ? 0 : round(100 * part / whole, 1);
}

function round(number: number, digits: number): number {
  return Number(number.toFixed(digits));
}

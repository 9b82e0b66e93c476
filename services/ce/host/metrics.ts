/**
 * The host's own metrics: processor, memory, swap, disk, load, uptime, network.
 *
 * They come from the runtime's own calls, or, with `PROC_PATH`, from a mounted `/proc` of the
 * host, which also tells of its network. No process is started for them.
 *
 * @module
 */

import { nodeFs, nodeOs } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type {
  CoreTime,
  CpuTime,
  HostSample,
  KernelFigures,
  Usage,
} from "../../state/host_cache.ts";
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
import { systemReason } from "../../system_reason.ts";

/** The host as callers see it. */
export type HostMetrics = Omit<HostSample, "cpuTime" | "kernel" | "network"> & {
  /** Only where `PROC_PATH` is set and tells. */
  network?: NonNullable<HostSample["network"]>;
};

/** What describes a host in the overview and in the stream. */
export type SystemSummary = Omit<HostMetrics, "swap" | "network" | "timestamp">;

/**
 * The filesystem that is watched. Seen from inside a container this is the one that holds the
 * engine's images and containers, which is the one that fills up.
 */
const DISK_PATH = "/";

/** Names of filesystems by the number that the kernel gives them, see statfs(2). */
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

/** The very first sample has none before it to differ from: it looks twice, so far apart. */
const FIRST_LOOK_MS = 200;

type HostDeps = Pick<Deps, "config" | "host" | "now">;

/**
 * The host's metrics as last sampled, at once. Only before the first sample has been taken there
 * is a wait of a moment.
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
 * Takes a new sample for everybody.
 *
 * @throws {AppError} `unavailable` when `PROC_PATH` cannot be read.
 */
export function sampleHost({ config, host, now }: HostDeps): Promise<HostSample> {
  const read = config.procPath === null ? readRuntime : () => readProc(config.procPath!);
  return host.refresh(async (before) => {
    const cpuBefore = before?.cpuTime ?? await firstLook(read);
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
          bootTime(at.getTime() / 1000 - uptimeSeconds, before?.kernel?.bootedAt),
      },
      timestamp: at.toISOString(),
    };
  });
}

/** What is read of the host, before anything is computed. */
interface HostReading {
  cpuTime: CpuTime;
  cpuCount: number;
  memory: MemoryInfo;
  load: [number, number, number];
  uptimeSeconds: number;
  network: HostSample["network"];
  cores: CoreTime[];
  /** Unix seconds; `undefined` where it is not said. */
  bootedAt: number | undefined;
}

async function firstLook(read: () => Promise<HostReading>): Promise<CpuTime> {
  const { cpuTime } = await read();
  await new Promise((resolve) => setTimeout(resolve, FIRST_LOOK_MS));
  return cpuTime;
}

/** From the runtime's own calls. Interfaces have no counters there. */
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
    // The runtime gives 0 for what is cached, on every Linux.
    memory: { total, free, available, buffers, cached: null, swapTotal, swapFree },
    load: [round(one, 2), round(five, 2), round(fifteen, 2)],
    uptimeSeconds: Deno.osUptime(),
    network: null,
    // Milliseconds, of which some modes are not told.
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

/** From a mount of the host's `/proc`. */
async function readProc(procPath: string): Promise<HostReading> {
  const read = (name: string) => Deno.readTextFile(`${procPath}/${name}`);
  try {
    const stat = await read("stat");
    const meminfo = await read("meminfo");
    const loadavg = await read("loadavg");
    const uptime = await read("uptime");
    // `net` is a link to `self/net`, which is this process's network; that of the host's first
    // process is the host's.
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
      {
        cause,
      },
    );
  }
}

/** As `df` counts it: what is reserved for root is neither used nor free. */
async function diskUsage(): Promise<{
  disk: HostSample["disk"];
  filesystem: KernelFigures["filesystem"];
}> {
  const { blocks, bfree, bavail, bsize, type, files, ffree } = await nodeFs().promises
    .statfs(DISK_PATH);
  const used = (blocks - bfree) * bsize;
  const free = bavail * bsize;
  return {
    disk: {
      path: DISK_PATH,
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

/**
 * The difference of two clocks moves by a second now and then; the host's start does not. A clock
 * that was set moves it for good.
 */
function bootTime(found: number, known: number | undefined): number {
  return known !== undefined && Math.abs(found - known) < 3 ? known : Math.round(found);
}

function usage(total: number, used: number): Usage {
  return { total, used, percent: percent(used, total) };
}

/** `undefined` when no time has passed that the counters would show. */
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

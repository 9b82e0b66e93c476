/** Parsers of the files in `/proc`; see proc(5). @module */

import { type CoreTime, CPU_MODES, type CpuTime, type NetworkCounters } from "./cache.ts";

/** Unit of the times in `/proc`, the same on every architecture that engines run on. */
const TICKS_PER_S = 100;

/** Sizes in bytes. */
export interface MemoryInfo {
  total: number;
  free: number;
  available: number;
  buffers: number;
  /** `null` if unknown. */
  cached: number | null;
  swapTotal: number;
  swapFree: number;
}

/**
 * Processor time and number of cores from `/proc/stat`. Waiting for a disk is idle time; time taken
 * by the hypervisor (steal) is not.
 *
 * @throws {Error} When the text has no `cpu` line.
 */
export function parseStat(text: string): { cpuTime: CpuTime; cpuCount: number } {
  const line = /^cpu +(.+)$/m.exec(text)?.[1];
  if (line === undefined) throw new Error("/proc/stat has no cpu line");
  // user nice system idle iowait irq softirq steal; user time includes guest time.
  const times = line.split(/\s+/, 8).map(Number);
  const [, , , idle = 0, iowait = 0] = times;
  const total = sum(times);
  return {
    cpuTime: { busy: total - idle - iowait, total },
    cpuCount: text.match(/^cpu\d+ /gm)?.length ?? 1,
  };
}

/** The time of each core in each mode, from `/proc/stat`. */
export function parseCores(text: string): CoreTime[] {
  return [...text.matchAll(/^cpu\d+ +(.+)$/gm)].map(([, times]) => {
    const ticks = times!.split(/\s+/).map(Number);
    return Object.fromEntries(
      CPU_MODES.slice(0, ticks.length).map((mode, at) => [mode, ticks[at]! / TICKS_PER_S]),
    );
  });
}

/** When the host started, in Unix seconds, from `/proc/stat`; `undefined` if unknown. */
export function parseBootTime(text: string): number | undefined {
  const seconds = /^btime (\d+)$/m.exec(text)?.[1];
  return seconds === undefined ? undefined : Number(seconds);
}

/**
 * Memory and swap from `/proc/meminfo`.
 *
 * @throws {Error} When the text has no `MemTotal`.
 */
export function parseMeminfo(text: string): MemoryInfo {
  const sizes = new Map<string, number>();
  for (const [, name, kibibytes] of text.matchAll(/^([\w()]+): +(\d+) kB$/gm)) {
    sizes.set(name!, Number(kibibytes) * 1024);
  }
  const size = (name: string) => sizes.get(name) ?? 0;
  const total = size("MemTotal");
  if (total === 0) throw new Error("/proc/meminfo has no MemTotal");
  return {
    total,
    free: size("MemFree"),
    buffers: size("Buffers"),
    cached: size("Cached"),
    // Kernels before 3.14 have no MemAvailable.
    available: sizes.get("MemAvailable") ?? size("MemFree") + size("Buffers") + size("Cached"),
    swapTotal: size("SwapTotal"),
    swapFree: size("SwapFree"),
  };
}

/** The averages over 1, 5 and 15 minutes from `/proc/loadavg`. */
export function parseLoadavg(text: string): [number, number, number] {
  const [one, five, fifteen] = text.trim().split(/\s+/, 3).map(Number);
  return [one ?? 0, five ?? 0, fifteen ?? 0];
}

/** Seconds since the host's start, from `/proc/uptime`. */
export function parseUptime(text: string): number {
  return Number.parseFloat(text);
}

/** The interfaces in `/proc/net/dev` in the kernel's order, including loopback. */
export function parseNetDev(text: string): NetworkCounters[] {
  const interfaces: NetworkCounters[] = [];
  for (const [, name, counters] of text.matchAll(/^ *([^\s:]+(?::\d+)?): *(\d.*)$/gm)) {
    const numbers = counters!.split(/\s+/).map(Number);
    // Eight columns received, then eight columns sent; each begins with bytes.
    interfaces.push({ name: name!, rxBytes: numbers[0] ?? 0, txBytes: numbers[8] ?? 0 });
  }
  return interfaces;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((left, right) => left + right, 0);
}

/**
 * The last sample of the host, from `sampler.ts`. All readers share it, because processor use
 * is measured between two samples, and each reader's own samples would shorten that time.
 *
 * @module
 */

/** Usage in bytes, and in percent of the total with one decimal. */
export interface Usage {
  total: number;
  used: number;
  percent: number;
}

/** The host at one moment. Sizes and counters are bytes. */
export interface HostSample {
  /** Since the previous sample; 100 is all cores. */
  cpuPercent: number;
  cpuCount: number;
  /** Memory that the kernel could give to a new program is available: page cache is not "used". */
  memory: Usage & { available: number };
  swap: Usage & { free: number };
  /** The filesystem at `path`; `free` is the space for unprivileged users. */
  disk: Usage & { path: string; free: number };
  /** Averages over 1, 5 and 15 minutes. */
  load: [number, number, number];
  uptimeSeconds: number;
  /** Counters of the host's interfaces since its start; `null` if they cannot be read. */
  network: NetworkCounters[] | null;
  /** Processor time since the host's start, to compute the difference to the next sample. */
  cpuTime: CpuTime;
  /** Only in samples for the metrics export. */
  kernel?: KernelFigures;
  /** ISO 8601, UTC. */
  timestamp: string;
}

/** The kernel's modes of processor time, in its order. Guest time is part of user time already. */
export const CPU_MODES = [
  "user",
  "nice",
  "system",
  "idle",
  "iowait",
  "irq",
  "softirq",
  "steal",
] as const;

/** Seconds in each mode since the host's start; a mode that cannot be read is missing. */
export type CoreTime = { [Mode in (typeof CPU_MODES)[number]]?: number };

/** Figures of the host that only the metrics export shows. Sizes are bytes. */
export interface KernelFigures {
  cores: CoreTime[];
  memory: {
    free: number;
    buffers: number;
    /** `null` if it cannot be read. */
    cached: number | null;
  };
  /** The filesystem at the disk's path. `free` includes space that is reserved for root. */
  filesystem: { type: string; free: number; files: number; filesFree: number };
  /** When the host started, in Unix seconds. */
  bootedAt: number;
}

/** Bytes through one interface. */
export interface NetworkCounters {
  name: string;
  rxBytes: number;
  txBytes: number;
}

/** Processor time of all cores together. The unit is arbitrary: only ratios have a meaning. */
export interface CpuTime {
  busy: number;
  total: number;
}

export type HostCache = ReturnType<typeof createHostCache>;

export function createHostCache() {
  let latest: HostSample | undefined;
  let pending: Promise<HostSample> | undefined;

  return {
    get latest() {
      return latest;
    },
    /** Takes a new sample; concurrent callers share it. */
    refresh(take: (before: HostSample | undefined) => Promise<HostSample>): Promise<HostSample> {
      pending ??= take(latest)
        .then((sample) => latest = sample)
        .finally(() => pending = undefined);
      return pending;
    },
  };
}

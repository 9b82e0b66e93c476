/**
 * The last sample of the host. `ce/workers/host_sampler.ts` fills it: every reader sees the same
 * sample, so that no reader shortens the time over which another's processor use is measured.
 *
 * @module
 */

/** How much of something is used. Bytes; percent of the total, with one decimal. */
export interface Usage {
  total: number;
  used: number;
  percent: number;
}

/** The host at one moment. Sizes and counters are bytes. */
export interface HostSample {
  /** Over the time since the sample before; 100 is all cores. */
  cpuPercent: number;
  cpuCount: number;
  /** What the kernel could give to a new program counts as available: page cache is not "used". */
  memory: Usage & { available: number };
  swap: Usage & { free: number };
  /** The filesystem at `path`; `free` is what is left to ordinary users. */
  disk: Usage & { path: string; free: number };
  /** Averages over 1, 5 and 15 minutes. */
  load: [number, number, number];
  uptimeSeconds: number;
  /** The host's interfaces, counted since its start; `null` where they cannot be seen. */
  network: NetworkCounters[] | null;
  /** Processor time since the host's start, for the difference to the next sample. */
  cpuTime: CpuTime;
  /** Missing in a sample that was not taken for the metrics export. */
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

/** Seconds in each mode since the host's start; a mode that cannot be seen is missing. */
export type CoreTime = { [Mode in (typeof CPU_MODES)[number]]?: number };

/** What only the metrics export shows of the host. Sizes are bytes. */
export interface KernelFigures {
  cores: CoreTime[];
  memory: {
    free: number;
    buffers: number;
    /** `null` where it cannot be seen. */
    cached: number | null;
  };
  /** The one at the disk's path. `free` holds also what is left to root only. */
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

/** Processor time of all cores together, in a unit of its own: only ratios have a meaning. */
export interface CpuTime {
  busy: number;
  total: number;
}

export interface HostCache {
  readonly latest: HostSample | undefined;
  /** Takes a new sample; whoever asks while one is being taken gets that one. */
  refresh(take: (before: HostSample | undefined) => Promise<HostSample>): Promise<HostSample>;
}

export function createHostCache(): HostCache {
  let latest: HostSample | undefined;
  let underWay: Promise<HostSample> | undefined;

  return {
    get latest() {
      return latest;
    },
    refresh(take) {
      underWay ??= take(latest)
        .then((sample) => latest = sample)
        .finally(() => underWay = undefined);
      return underWay;
    },
  };
}

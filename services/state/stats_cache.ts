/**
 * The last stats of each container, from the stats sampler. Requests never wait for the engine,
 * which takes one to two seconds to answer.
 *
 * @module
 */

/** One sample of a running container. Sizes and counters are bytes; counters count from its start. */
export interface ContainerStats {
  /** 100 is one core. */
  cpuPercent: number;
  /** Processor time since the container's start, in seconds. */
  cpuSeconds: number;
  /** Without the page cache, like `docker stats`. */
  memoryUsage: number;
  memoryLimit: number;
  memoryPercent: number;
  networkRx: number;
  networkTx: number;
  blockRead: number;
  blockWrite: number;
  pids: number;
  /** When the engine measured; ISO 8601, UTC. */
  read: string;
  /** Only the metrics export reads them. */
  counters?: ContainerCounters;
}

/** Counters of the metrics export; `null` where the engine does not report one. */
export interface ContainerCounters {
  cpuUserSeconds: number | null;
  cpuSystemSeconds: number | null;
  /** Scheduler periods of a container with a CPU limit, and those in which it was throttled. */
  cpuPeriods: number;
  cpuThrottledPeriods: number;
  cpuThrottledSeconds: number;
  /** With the page cache. */
  memoryWithCache: number;
  memoryRss: number | null;
  memoryCache: number | null;
  memorySwap: number | null;
  memoryMax: number | null;
  memoryFailures: number | null;
  memoryMappedFile: number | null;
  memoryActiveFile: number | null;
  memoryInactiveFile: number | null;
  memoryKernel: number | null;
  pageFaults: number | null;
  majorPageFaults: number | null;
  interfaces: InterfaceCounters[];
  /** By block device, named by its numbers, e.g. `"8:0"`. */
  devices: DeviceCounters[];
}

export interface InterfaceCounters {
  name: string;
  receive: TrafficCounters;
  transmit: TrafficCounters;
}

/** In one direction. */
export interface TrafficCounters {
  bytes: number;
  packets: number;
  errors: number;
  dropped: number;
}

export interface DeviceCounters {
  device: string;
  readBytes: number;
  writtenBytes: number;
  reads: number;
  writes: number;
}

/** The figures that lists show. */
interface ContainerFigures {
  /** 100 is one core. */
  cpuPercent: number;
  /** Bytes, without the page cache. */
  memory: number;
}

/** Maximum age of a sample, in milliseconds. */
const STATS_AGE_MAX_MS = 45_000;

/** How long sizes are read after a scrape, in milliseconds. */
const SIZES_WANTED_MS = 10 * 60_000;

export type StatsCache = ReturnType<typeof createStatsCache>;

export function createStatsCache(now: () => Date) {
  const samples = new Map<string, { stats: ContainerStats; at: number }>();
  const figures = new Map<string, ContainerFigures & { at: number }>();
  let sizes: ReadonlyMap<string, number> = new Map();
  let sizesWantedUntil = 0;
  let revision = 0;
  let published = 0;

  const fresh = <Entry extends { at: number }>(entry: Entry | undefined) =>
    entry && Math.abs(now().getTime() - entry.at) <= STATS_AGE_MAX_MS ? entry : undefined;

  return {
    /** The last sample; `undefined` when it is older than {@linkcode STATS_AGE_MAX_MS}. */
    get: (id: string) => fresh(samples.get(id))?.stats,
    /** The last sample, whatever its age. */
    last: (id: string) => samples.get(id)?.stats,
    put(id: string, stats: ContainerStats): void {
      samples.set(id, { stats, at: now().getTime() });
      revision++;
    },
    remove(id: string): void {
      figures.delete(id);
      if (samples.delete(id)) revision++;
    },
    /** As of the last `publish()`; `undefined` when older than {@linkcode STATS_AGE_MAX_MS}. */
    figures: (id: string): ContainerFigures | undefined => fresh(figures.get(id)),
    /**
     * Makes the samples since the last call visible in lists. Lists change with each call, not with
     * each sample, so that they can be cached and compared in between.
     *
     * @returns The current figures by container id.
     */
    publish(): ReadonlyMap<string, ContainerFigures> {
      figures.clear();
      for (const [id, { stats, at }] of samples) {
        if (!fresh({ at })) continue;
        figures.set(id, { cpuPercent: stats.cpuPercent, memory: stats.memoryUsage, at });
      }
      published++;
      return figures;
    },
    /** Returns the bytes of a container's writable layer; `undefined` if unknown. */
    size: (id: string) => sizes.get(id),
    /** Replaces the sizes of all containers. */
    putSizes(read: ReadonlyMap<string, number>): void {
      sizes = read;
      revision++;
    },
    /** Requests that sizes are read for the next ten minutes. */
    wantSizes: (): void => void (sizesWantedUntil = now().getTime() + SIZES_WANTED_MS),
    get sizesWanted() {
      return now().getTime() < sizesWantedUntil;
    },
    /** Increases with every change. */
    get revision() {
      return revision;
    },
    /** Increases with every `publish()`. */
    get published() {
      return published;
    },
  };
}

/**
 * The last stats of each container, from the stats sampler. Requests never wait for the engine,
 * which takes one to two seconds to answer.
 *
 * @module
 */

import type { ContainerFigures, ContainerRates } from "../../db/container_samples.ts";

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

interface Sample {
  stats: ContainerStats;
  rates: ContainerRates;
  /** Unix milliseconds. */
  at: number;
}

/** Maximum age of a sample, in milliseconds. */
const STATS_AGE_MAX_MS = 45_000;

/** Time after a scrape in which sizes are read, in milliseconds. */
const SIZES_WANTED_MS = 10 * 60_000;

export type StatsCache = ReturnType<typeof createStatsCache>;

export function createStatsCache(now: () => Date) {
  const samples = new Map<string, Sample>();
  const published = new Map<string, { figures: ContainerFigures; at: number }>();
  let sizes: ReadonlyMap<string, number> = new Map();
  let sizesWantedUntil = 0;
  let revision = 0;
  let rounds = 0;

  const fresh = <Entry extends { at: number }>(entry: Entry | undefined) =>
    entry && Math.abs(now().getTime() - entry.at) <= STATS_AGE_MAX_MS ? entry : undefined;

  return {
    /** The last sample; `undefined` when it is older than {@linkcode STATS_AGE_MAX_MS}. */
    get: (id: string) => fresh(samples.get(id))?.stats,
    /** The last sample, whatever its age. */
    last: (id: string) => samples.get(id)?.stats,
    /** As `get()`. */
    rates: (id: string): ContainerRates | undefined => fresh(samples.get(id))?.rates,
    put(id: string, stats: ContainerStats): void {
      const rates = ratesSince(fresh(samples.get(id)), stats);
      samples.set(id, { stats, rates, at: now().getTime() });
      revision++;
    },
    remove(id: string): void {
      published.delete(id);
      if (samples.delete(id)) revision++;
    },
    /** As of the last `publish()`; `undefined` when older than {@linkcode STATS_AGE_MAX_MS}. */
    figures: (id: string): ContainerFigures | undefined => fresh(published.get(id))?.figures,
    /**
     * Makes the samples since the last call visible in lists. Lists change with each call, not with
     * each sample, so that they can be cached and compared in between.
     *
     * @returns The current figures by container id.
     */
    publish(): ReadonlyMap<string, { figures: ContainerFigures }> {
      published.clear();
      for (const [id, sample] of samples) {
        if (!fresh(sample)) continue;
        const { stats: { cpuPercent, memoryUsage: memory }, rates, at } = sample;
        published.set(id, { figures: { cpuPercent, memory, ...rates }, at });
      }
      rounds++;
      return published;
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
      return rounds;
    },
  };
}

/** The rates of a sample. A restart sets the counters to 0. */
function ratesSince(
  before: Pick<Sample, "stats" | "rates"> | undefined,
  stats: ContainerStats,
): ContainerRates {
  if (before && before.stats.read === stats.read) return before.rates;
  const seconds = before ? (Date.parse(stats.read) - Date.parse(before.stats.read)) / 1000 : 0;
  const rate = (counter: "networkRx" | "networkTx" | "blockRead" | "blockWrite") => {
    const bytes = before ? stats[counter] - before.stats[counter] : -1;
    return seconds > 0 && bytes >= 0 ? Math.round(bytes / seconds) : null;
  };
  const hasNetwork = stats.counters?.interfaces.length !== 0;
  return {
    networkRxPerSecond: hasNetwork ? rate("networkRx") : null,
    networkTxPerSecond: hasNetwork ? rate("networkTx") : null,
    blockReadPerSecond: rate("blockRead"),
    blockWritePerSecond: rate("blockWrite"),
  };
}

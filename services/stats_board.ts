/**
 * The last stats of each container, and who needs new ones. `ce/workers/stats_sampler.ts` fills
 * it: the engine takes one to two seconds for an answer, so no request ever waits for it.
 *
 * @module
 */

/** One sample of a running container. Sizes and counters are bytes; counters count from its start. */
export interface ContainerStats {
  /** 100 is one core. */
  cpuPercent: number;
  /** Processor time since the container's start, in seconds. */
  cpuSeconds: number;
  /** Without the page cache, as the engine's own command line shows it. */
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
  /** Missing in a sample that was not taken for the metrics export. */
  counters?: ContainerCounters;
}

/** What only the metrics export shows. What this engine does not tell is `null`. */
export interface ContainerCounters {
  cpuUserSeconds: number | null;
  cpuSystemSeconds: number | null;
  /** Periods of a container whose processor time is limited, and those in which it had to wait. */
  cpuPeriods: number;
  cpuThrottledPeriods: number;
  cpuThrottledSeconds: number;
  /** With the page cache. */
  memoryWithCache: number;
  memoryRss: number | null;
  memoryCache: number | null;
  memorySwap: number | null;
  memoryMax: number | null;
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

export interface StatsBoard {
  get(id: string): ContainerStats | undefined;
  put(id: string, stats: ContainerStats): void;
  remove(id: string): void;
  /** Somebody looks at this container: it is sampled for the next minute. */
  want(id: string): void;
  isWanted(id: string): boolean;
  /** Somebody needs all containers until the returned function is called (a rule, an export). */
  wantAll(): () => void;
  /** Somebody needs all containers for this long, and will say so again (a scraper). */
  wantAllFor(ms: number): void;
  readonly allWanted: boolean;
  /** Rises with every change. */
  readonly revision: number;
}

/** How long a look at a container keeps it sampled, in milliseconds. */
const WANTED_MS = 60_000;

export function createStatsBoard(now: () => Date): StatsBoard {
  const board = new Map<string, ContainerStats>();
  const wantedUntil = new Map<string, number>();
  const everything = new Set<symbol>();
  let everythingUntil = 0;
  let revision = 0;

  const isAllWanted = () => everything.size > 0 || everythingUntil > now().getTime();

  return {
    get: (id) => board.get(id),
    put(id, stats) {
      board.set(id, stats);
      revision++;
    },
    remove(id) {
      if (board.delete(id)) revision++;
      wantedUntil.delete(id);
    },
    want: (id) => void wantedUntil.set(id, now().getTime() + WANTED_MS),
    isWanted: (id) => isAllWanted() || (wantedUntil.get(id) ?? 0) > now().getTime(),
    wantAll() {
      const ticket = Symbol();
      everything.add(ticket);
      return () => void everything.delete(ticket);
    },
    wantAllFor: (ms) => void (everythingUntil = now().getTime() + ms),
    get allWanted() {
      return isAllWanted();
    },
    get revision() {
      return revision;
    },
  };
}

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
  readonly allWanted: boolean;
}

/** How long a look at a container keeps it sampled, in milliseconds. */
const WANTED_MS = 60_000;

export function createStatsBoard(now: () => Date): StatsBoard {
  const board = new Map<string, ContainerStats>();
  const wantedUntil = new Map<string, number>();
  const everything = new Set<symbol>();

  return {
    get: (id) => board.get(id),
    put: (id, stats) => void board.set(id, stats),
    remove(id) {
      board.delete(id);
      wantedUntil.delete(id);
    },
    want: (id) => void wantedUntil.set(id, now().getTime() + WANTED_MS),
    isWanted: (id) => everything.size > 0 || (wantedUntil.get(id) ?? 0) > now().getTime(),
    wantAll() {
      const ticket = Symbol();
      everything.add(ticket);
      return () => void everything.delete(ticket);
    },
    get allWanted() {
      return everything.size > 0;
    },
  };
}

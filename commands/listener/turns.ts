/**
 * Turns of requests: how many requests of a client are answered at the same time, and which others
 * wait. For a connection whose requests wait the runtime keeps what it has sent of their bodies.
 *
 * @module
 */

/**
 * Requests of a client that are answered at the same time, besides one of each of its connections.
 * For a body that has not arrived the runtime keeps 64 KB.
 */
export const RUNNING_MAX = 64;

/** Time for which a request may wait, in milliseconds; longer than turns of usual requests take. */
export const WAITING_MS = 10_000;

/**
 * Bytes by which this process may grow while requests wait, and the time between two looks in
 * milliseconds. A body of tiny frames takes a thousand times its bytes, and only requests that wait
 * let them pile up.
 */
export const GROWTH_BYTES_MAX = 96 * 1024 * 1024;
const LOOK_MS = 100;

/** Connections with waiting requests. The runtime's window for bodies is 1 MiB of each. */
export const WAITING_CONNECTIONS_MAX = 64;

/** A connection whose requests take turns. */
interface Sender {
  readonly group: string;
  readonly isProxy: boolean;
}

/** A client by its address group, or a connection of a proxy that names no clients. */
type Client = string | Sender;

interface Turns {
  running: number;
  readonly queue: Set<Waiting>;
}

interface Waiting {
  readonly connection: Sender;
  readonly turns: Turns;
  /** A monotonic time in milliseconds. */
  readonly since: number;
  readonly settle: (hasTurn: boolean) => void;
}

/**
 * @param options.now A monotonic clock in milliseconds.
 * @param options.memory Bytes that this process takes.
 * @param options.repeat Calls the function every 100 ms until its result is called.
 */
export function createTurns({ now, memory = () => Deno.memoryUsage().rss, repeat = every }: {
  now: () => number;
  memory?: () => number;
  repeat?: (look: () => void) => () => void;
}) {
  const all = new Map<Client, Turns>();
  const waiting = new Map<Sender, Set<Waiting>>();
  let stopLooking = () => {};

  return {
    /** Runs `work` in a turn of the client. @returns `undefined` if the request must not wait longer. */
    async take<Result>(
      connection: Sender,
      client: Client,
      work: () => Promise<Result>,
    ): Promise<Result | undefined> {
      const turns = all.get(client) ?? { running: 0, queue: new Set() };
      all.set(client, turns);
      if (turns.running < RUNNING_MAX) turns.running++;
      else if (!await wait(connection, turns)) return undefined;
      try {
        return await work();
      } finally {
        const [next] = turns.queue;
        // The next one takes over the turn.
        if (next) settle(next, true);
        else if (--turns.running === 0) all.delete(client);
      }
    },

    /** Refuses the requests that have waited too long. Called every few seconds. */
    refuseOverdue(): void {
      const before = now() - WAITING_MS;
      for (const own of waiting.values()) {
        for (const each of own) {
          if (each.since <= before) settle(each, false);
        }
      }
    },

    /** Refuses the waiting requests of a connection, e.g. of one that was closed. */
    refuse,
  };

  function wait(connection: Sender, turns: Turns): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    if (waiting.size === 0) stopLooking = limitGrowth();
    const own = waiting.get(connection) ?? new Set();
    const request = { connection, turns, since: now(), settle: resolve };
    waiting.set(connection, own.add(request));
    turns.queue.add(request);
    if (waiting.size > WAITING_CONNECTIONS_MAX) refuse(busiest());
    return promise;
  }

  function settle(request: Waiting, hasTurn: boolean): void {
    const own = waiting.get(request.connection)!;
    own.delete(request);
    if (own.size === 0) waiting.delete(request.connection);
    if (waiting.size === 0) stopLooking();
    request.turns.queue.delete(request);
    request.settle(hasTurn);
  }

  function refuse(connection: Sender): void {
    for (const request of waiting.get(connection) ?? []) settle(request, false);
  }

  /** Refuses all waiting requests when the process has grown too much since the first of them. */
  function limitGrowth(): () => void {
    const before = memory();
    return repeat(() => {
      if (memory() - before > GROWTH_BYTES_MAX) [...waiting.keys()].forEach(refuse);
    });
  }

  /** The longest waiting connection of the client with the most of them. */
  function busiest(): Sender {
    // A proxy's connections are those of many clients.
    const keyOf = (each: Sender) => each.isProxy ? each : each.group;
    const counts = new Map<Client, number>();
    for (const each of waiting.keys()) {
      counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + 1);
    }
    const countOf = (each: Sender) => counts.get(keyOf(each))!;
    return [...waiting.keys()].reduce((most, each) => countOf(each) > countOf(most) ? each : most);
  }
}

function every(look: () => void): () => void {
  const timer = setInterval(look, LOOK_MS);
  return () => clearInterval(timer);
}

/**
 * Whole bodies of responses that are on their way to clients. With HTTP/2 a client can ask for many
 * and read none of them, while other requests on the connection go on.
 *
 * @module
 */

/** Time for a delivery in milliseconds, and the bytes per second that prolong it. */
export const DELIVERY_MS = 30_000;
const BYTES_PER_SECOND = 20_000;

/** Bytes on the way to one connection, unless it is a single body, and to all. */
export const CONNECTION_BYTES_MAX = 8 * 1024 * 1024;
export const ALL_BYTES_MAX = 64 * 1024 * 1024;

/** A connection that bodies are sent on. */
interface Receiver {
  readonly group: string;
  readonly isProxy: boolean;
}

interface Delivery {
  bytes: number;
  /** A monotonic time in milliseconds. */
  dueAt: number;
}

/**
 * @param options.now A monotonic clock in milliseconds.
 * @param options.close Closes a connection, which then calls `remove()`.
 */
export function createDeliveries<Connection extends Receiver>(
  { now, close }: { now: () => number; close: (connection: Connection) => void },
) {
  const running = new Map<Connection, Set<Delivery>>();
  let total = 0;

  return {
    /** Counts a body. Connections are closed if too much is on its way. @returns Ends the delivery. */
    begin(connection: Connection, bytes: number): () => void {
      const delivery = { bytes, dueAt: now() + DELIVERY_MS + bytes * 1_000 / BYTES_PER_SECOND };
      const own = running.get(connection) ?? new Set();
      running.set(connection, own.add(delivery));
      total += bytes;
      if (own.size > 1 && sum(own) > CONNECTION_BYTES_MAX) close(connection);
      while (total > ALL_BYTES_MAX && running.size > 1) close(largest());
      return () => {
        if (running.get(connection) !== own || !own.delete(delivery)) return;
        total -= bytes;
        if (own.size === 0) running.delete(connection);
      };
    },

    /** Forgets the deliveries of a connection that was closed. */
    remove(connection: Connection): void {
      total -= sum(running.get(connection) ?? []);
      running.delete(connection);
    },

    /** Closes the connections with a delivery that takes too long. */
    closeOverdue(): void {
      const at = now();
      for (const [connection, own] of running) {
        if ([...own].some(({ dueAt }) => at >= dueAt)) close(connection);
      }
    },
  };

  /** The connection with the most bytes, of the address group with the most. */
  function largest(): Connection {
    const all = [...running].map(([connection, own]) => ({ connection, bytes: sum(own) }));
    // A proxy's connections are those of many clients.
    const keyOf = (connection: Connection) => connection.isProxy ? connection : connection.group;
    const weights = new Map<string | Connection, number>();
    for (const { connection, bytes } of all) {
      const key = keyOf(connection);
      weights.set(key, (weights.get(key) ?? 0) + bytes);
    }
    const weightOf = (connection: Connection) => weights.get(keyOf(connection)) ?? 0;
    all.sort((a, b) => weightOf(b.connection) - weightOf(a.connection) || b.bytes - a.bytes);
    return all[0]!.connection;
  }
}

function sum(deliveries: Iterable<Delivery>): number {
  let bytes = 0;
  for (const each of deliveries) bytes += each.bytes;
  return bytes;
}

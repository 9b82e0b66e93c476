/**
 * Whole bodies of responses that are on their way to clients. With HTTP/2 a client can ask for many
 * and read none of them, while other requests on the connection go on. Until then the runtime keeps
 * each request, with the body that the client has sent.
 *
 * @module
 */

import { SMALL_BYTES } from "../../routes/pipeline/exchange.ts";

/** Time for a delivery in milliseconds, and the bytes per second that prolong it. */
export const DELIVERY_MS = 30_000;
const BYTES_PER_SECOND = 20_000;

/** Bytes on the way to one connection, unless it is a single body, and to all. */
export const CONNECTION_BYTES_MAX = 8 * 1024 * 1024;
export const ALL_BYTES_MAX = 64 * 1024 * 1024;

/** Bytes that the runtime allocates for each tracked body, and at most for each request. */
export const STREAM_BYTES = 40 * 1024;
const REQUEST_BYTES = 16 * 1024;

/**
 * Of small bodies the first of a connection is tracked, then one of so many, which counts for all of
 * them. It is random, so that a client cannot know which to take.
 */
export const SAMPLED = 16;

/**
 * A client takes a body that fits into the first window of HTTP/2 (RFC 9113, section 6.9.2) within
 * this time, in milliseconds. If it does not, it may have sent as much as the runtime's window of a
 * connection.
 */
export const STALLED_MS = 1_000;
const FIRST_WINDOW_BYTES = 65_535;
export const STALLED_BYTES = 1024 * 1024;

/** Part of all bytes that is closed at once. */
const CLOSED_PART = 1 / 16;

/** A connection that bodies are sent on. */
interface Receiver {
  readonly group: string;
  readonly isProxy: boolean;
}

interface Delivery {
  /** Number of deliveries that it counts for. */
  count: number;
  bytes: number;
  /** Monotonic times in milliseconds. */
  stallsAt: number;
  dueAt: number;
}

/**
 * @param options.now A monotonic clock in milliseconds.
 * @param options.close Closes a connection, which then calls `remove()`.
 * @param options.closeGroup Closes those of its group as well.
 * @param options.random As `Math.random()`.
 */
export function createDeliveries<Connection extends Receiver>(
  { now, close, closeGroup, random = Math.random }: {
    now: () => number;
    close: (connection: Connection) => void;
    closeGroup: (connection: Connection) => void;
    random?: () => number;
  },
) {
  const running = new Map<Connection, Set<Delivery>>();
  const known = new WeakSet<Connection>();
  let total = 0;
  let limitedAt = now();

  return {
    /**
     * Counts a body. Connections are closed if too much is on its way.
     *
     * @returns Ends the delivery. `undefined` if it is not tracked.
     */
    begin(connection: Connection, length: number): (() => void) | undefined {
      const count = countOf(connection, length);
      if (count === 0) return undefined;
      const at = now();
      const dueAt = at + DELIVERY_MS + length * 1_000 / BYTES_PER_SECOND;
      const stallsAt = length > FIRST_WINDOW_BYTES ? Infinity : at + STALLED_MS;
      const bytes = STREAM_BYTES + length + (count - 1) * (REQUEST_BYTES + length);
      const delivery = { count, bytes, stallsAt, dueAt };
      const own = running.get(connection) ?? new Set();
      running.set(connection, own.add(delivery));
      total += bytes;
      if (own.size > 1 && sum(own) > CONNECTION_BYTES_MAX) close(connection);
      if (total > ALL_BYTES_MAX || at - limitedAt >= STALLED_MS) limit(at);
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
      limit(at);
    },
  };

  function countOf(connection: Connection, length: number): number {
    if (length > SMALL_BYTES) return 1;
    if (known.has(connection)) return random() * SAMPLED < 1 ? SAMPLED : 0;
    known.add(connection);
    return 1;
  }

  /** Closes connections, those of the largest group first, until the rest holds little enough. */
  function limit(at: number): void {
    limitedAt = at;
    const held = [...running].map(([connection, own]) => ({
      connection,
      bytes: heldBytes(own, at),
    }));
    if (sum(held) <= ALL_BYTES_MAX) return;
    // More than necessary, so that each further body need not search.
    let excess = sum(held) - ALL_BYTES_MAX * (1 - CLOSED_PART);
    // A proxy's connections are those of many clients.
    const keyOf = (connection: Connection) => connection.isProxy ? connection : connection.group;
    const weights = new Map<string | Connection, number>();
    for (const { connection, bytes } of held) {
      const key = keyOf(connection);
      weights.set(key, (weights.get(key) ?? 0) + bytes);
    }
    const weightOf = (connection: Connection) => weights.get(keyOf(connection)) ?? 0;
    held.sort((a, b) => weightOf(b.connection) - weightOf(a.connection) || b.bytes - a.bytes);
    for (const { connection, bytes } of held.slice(0, -1)) {
      if (excess <= 0) return;
      const isSampled = running.get(connection)?.values().some(({ count }) => count > 1);
      // Others of the group are likely to hold what is not tracked.
      if (isSampled) closeGroup(connection);
      else if (running.has(connection)) close(connection);
      excess -= bytes;
    }
  }
}

/** Bytes that this process keeps for a connection until it takes its responses. */
function heldBytes(deliveries: ReadonlySet<Delivery>, at: number): number {
  let stalled = 0;
  for (const { count, stallsAt } of deliveries) {
    if (at >= stallsAt) stalled = Math.max(stalled, count);
  }
  return sum(deliveries) + stalled * STALLED_BYTES;
}

function sum(all: Iterable<{ bytes: number }>): number {
  let bytes = 0;
  for (const each of all) bytes += each.bytes;
  return bytes;
}

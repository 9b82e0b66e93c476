/**
 * Open connections of the listener: how many there may be, and how long each may stay open without a
 * request. Nothing here reads or writes; `listener.ts` does.
 *
 * @module
 */

import { createDeliveries } from "./deliveries.ts";
import { createTurns } from "./turns.ts";

/** Time for the TLS handshake and the head of the first request, in milliseconds. */
export const FIRST_REQUEST_MS = 30_000;

/**
 * Time without a running request, in milliseconds: longer than proxies keep idle connections, which
 * would otherwise send a request at the moment of the close.
 */
export const IDLE_MS = 120_000;

/** Descriptors that connections leave for the engine, databases and outgoing requests. */
export const RESERVED_DESCRIPTORS = 64;

/** Descriptors of the connections that are accepted without a check. */
const UNCHECKED = 64;

/** Descriptors of the connections that one successful check allows; some of the reserve stays. */
const CHECKED_STEP = RESERVED_DESCRIPTORS / 2;

/** Part of the limit that the addresses of one group may use. */
const SHARE = 1 / 4;

/**
 * Most unfinished requests of a connection: more than the streams that HTTP/2 allows it at a time, so
 * that only requests which the client has cancelled are beyond.
 */
export const REQUESTS_MAX = 256;

/** Most unfinished requests besides one of each connection. The runtime keeps up to 18 KB for each. */
export const FURTHER_REQUESTS_MAX = 8_192;

/** Part of the idle connections that is closed at once, so that each accept need not search. */
const CLOSED_PART = 1 / 16;

export interface Connection {
  /** Address group of the client. */
  readonly group: string;
  /** Whether the client is a trusted proxy, whose connections are those of many clients. */
  readonly isProxy: boolean;
  /** Closes it at once. */
  readonly close: () => void;
  /** Number of running requests. */
  requests: number;
  /** Number of those that wait for their turn, for the rest of their body or for an answer. */
  unanswered: number;
  /** Since when it has no running request; a monotonic time in milliseconds. */
  idleSince: number;
  hadRequest: boolean;
}

export type Connections = ReturnType<typeof createConnections>;

/**
 * @param options.max Limit of connections.
 * @param options.descriptors Number of descriptors of a connection; all but one are opened later.
 * @param options.hasReserve Whether so many descriptors can still be opened.
 * @param options.now A monotonic clock in milliseconds.
 */
export function createConnections(
  { max, descriptors: descriptorsAtFirst = 1, hasReserve, now }: {
    max: number;
    descriptors?: number;
    hasReserve: (count: number) => boolean;
    now: () => number;
  },
) {
  let descriptors = descriptorsAtFirst;
  const unchecked = Math.floor(UNCHECKED / descriptors);
  const step = () => Math.floor(CHECKED_STEP / descriptors);
  /** With those that the connections of the last step have not opened yet. */
  const reserve = () => RESERVED_DESCRIPTORS + step() * (descriptors - 1);
  const deliveries = createDeliveries<Connection>({ now, close: end, closeGroup });
  const open = new Set<Connection>();
  const turns = createTurns({ now });
  /** Numbers of connections. */
  const groups = new Map<string, number>();
  /** Unfinished requests besides one of each connection. */
  let further = 0;
  /** Number of connections for which descriptors are known to suffice. */
  let checked = unchecked;
  /** `max`, or the number at which the descriptors ran short. */
  let limit = max;

  return {
    get size() {
      return open.size;
    },

    /** Further connections have so many descriptors. */
    expectDescriptors(count: number): void {
      descriptors = count;
    },

    /** Adds a connection, for which others may be closed. @returns `undefined` if it is refused. */
    admit(given: Pick<Connection, "group" | "isProxy" | "close">): Connection | undefined {
      checkDescriptors();
      if (!given.isProxy && sizeOf(given.group) >= share()) {
        if (!closeIdle((other) => other.group === given.group)) return undefined;
      } else if (open.size >= limit) {
        if (!closeIdle(() => true) && !closeExcess(given.group)) return undefined;
      }
      const counts = { requests: 0, unanswered: 0 };
      const connection = { ...given, ...counts, idleSince: now(), hadRequest: false };
      open.add(connection);
      groups.set(given.group, sizeOf(given.group) + 1);
      return connection;
    },

    /** Counts a request. Connections are closed if there are too many that have not ended. */
    beginRequest(connection: Connection): void {
      connection.requests++;
      connection.hadRequest = true;
      if (!open.has(connection) || connection.requests === 1) return;
      further++;
      if (connection.requests > REQUESTS_MAX) end(connection);
      if (further > FURTHER_REQUESTS_MAX) closeBusiest();
    },

    endRequest(connection: Connection): void {
      if (open.has(connection) && connection.requests > 1) further--;
      connection.requests--;
      connection.idleSince = now();
    },

    /**
     * Answers a request that has begun: the only one of its connection at once, others in turn.
     *
     * @param client Finds out whose turn it needs.
     * @returns `undefined` if it must not wait longer for its turn.
     */
    async answer<Answer>(
      connection: Connection,
      client: () => string | Connection,
      work: () => Promise<Answer>,
    ): Promise<Answer | undefined> {
      connection.unanswered++;
      try {
        // With HTTP/1.1 there is one at a time.
        const isOnly = connection.requests === 1;
        return isOnly ? await work() : await turns.take(connection, client(), work);
      } finally {
        connection.unanswered--;
      }
    },

    /** Counts a whole body that is on its way. @returns Ends its delivery, if that is tracked. */
    beginDelivery: deliveries.begin,

    remove,

    /**
     * Closes the connections that have waited too long for a request, or take too long for a
     * response. Called every few seconds.
     */
    closeOverdue(): void {
      deliveries.closeOverdue();
      turns.refuseOverdue();
      const at = now();
      for (const connection of open) {
        const { requests, idleSince, hadRequest } = connection;
        const allowedMs = hadRequest ? IDLE_MS : FIRST_REQUEST_MS;
        if (requests === 0 && at - idleSince >= allowedMs) end(connection);
      }
      // Descriptors are used and closed elsewhere as well.
      checked = unchecked;
      limit = max;
    },

    /** Closes the connections that have not sent a request, which no response is on its way to. */
    closeUnused(): void {
      for (const connection of open) {
        if (!connection.hadRequest) end(connection);
      }
    },

    /** Closes some idle connections because no descriptor could be opened. */
    relieve(): void {
      closeIdle(() => true);
    },
  };

  function checkDescriptors(): void {
    if (open.size < checked || open.size >= limit) return;
    if (hasReserve(reserve())) checked = open.size + step();
    else limit = open.size;
  }

  function sizeOf(group: string): number {
    return groups.get(group) ?? 0;
  }

  function share(): number {
    return Math.max(1, Math.floor(limit * SHARE));
  }

  /** Closes the longest idle connections, those of the largest groups first. @returns Whether there were any. */
  function closeIdle(isCandidate: (connection: Connection) => boolean): boolean {
    const idle = [...open].filter((each) => each.requests === 0 && isCandidate(each));
    idle.sort((a, b) => weightOf(b) - weightOf(a) || a.idleSince - b.idleSince);
    const count = Math.ceil(idle.length * CLOSED_PART);
    for (const connection of idle.slice(0, count)) end(connection);
    return count > 0;
  }

  /**
   * Closes a connection of the largest group, even during a request, if the group has more than its
   * share or at least twice as many as the new client will have. Those that only wait are first.
   */
  function closeExcess(group: string): boolean {
    const least = Math.min(share() + 1, 2 * (sizeOf(group) + 1));
    const orderOf = (each: Connection) =>
      2 * weightOf(each) + Number(each.unanswered === each.requests);
    let first: Connection | undefined;
    for (const each of open) {
      if (each.group === group || weightOf(each) < least) continue;
      if (!first || orderOf(each) > orderOf(first)) first = each;
    }
    if (first) end(first);
    return first !== undefined;
  }

  /** Closes the connections of the client with the most requests; of proxies one connection. */
  function closeBusiest(): void {
    const counts = new Map<string | Connection, number>();
    const keyOf = (each: Connection) => each.isProxy ? each : each.group;
    for (const each of open) {
      counts.set(keyOf(each), (counts.get(keyOf(each)) ?? 0) + furtherOf(each));
    }
    const countOf = (each: Connection) => counts.get(keyOf(each))!;
    const [busiest] = [...open].sort((a, b) => countOf(b) - countOf(a));
    if (busiest) closeGroup(busiest);
  }

  /** Closes all connections of a client's group; of proxies only the given one. */
  function closeGroup(connection: Connection): void {
    if (connection.isProxy) return end(connection);
    for (const each of open) {
      if (each.group === connection.group && !each.isProxy && each.hadRequest) end(each);
    }
  }

  /** Size of the group; a proxy counts as if each of its connections were another client's. */
  function weightOf({ group, isProxy }: Connection): number {
    return isProxy ? 1 : sizeOf(group);
  }

  function end(connection: Connection): void {
    remove(connection);
    connection.close();
  }

  function remove(connection: Connection): void {
    deliveries.remove(connection);
    turns.refuse(connection);
    if (!open.delete(connection)) return;
    further -= furtherOf(connection);
    const rest = sizeOf(connection.group) - 1;
    if (rest === 0) groups.delete(connection.group);
    else groups.set(connection.group, rest);
  }
}

const furtherOf = ({ requests }: Connection) => Math.max(0, requests - 1);

/**
 * The events of the service. Webhooks, chat channels, pushes, the SSE stream, status-page
 * subscribers and the compliance log receive them.
 *
 * @module
 */

import type { EventKind, EventMap } from "./kinds/mod.ts";
import type { ServerIdentity } from "./server_identity.ts";

/** An event without its envelope. */
export type NewEvent = {
  [Kind in EventKind]: { event: Kind; data: EventMap[Kind] };
}[EventKind];

/** Common fields of every event besides its kind and data. */
export interface EventEnvelope {
  /** ISO 8601, UTC. */
  timestamp: string;
  /** A UUID, the same in every delivery of this event. */
  eventId: string;
  /** The server's name (`SERVER_NAME`). */
  server: string;
  /** The server's UUID; it survives a change of the name. */
  serverId: string;
  /** Of an event of a host of this server's fleet: its name, which is also `server`. */
  host?: string;
  /** Of such an event: the stack of its container. */
  stack?: string;
}

/** One event as subscribers and webhook receivers see it. */
export type AppEvent = {
  [Kind in EventKind]: { event: Kind } & EventEnvelope & { data: EventMap[Kind] };
}[EventKind];

/** Beginning of the keys of objects of hosts. */
export const OF_HOST = "host:";

/** A key for an object of an event: a host of the fleet can have one of the same name as this server. */
export const keyOf = (
  { host, serverId }: Pick<EventEnvelope, "host" | "serverId">,
  key: string,
): string => host === undefined ? key : `${OF_HOST}${serverId} ${key}`;

/** Whether a key of {@linkcode keyOf} is of the server or host that an event is of. */
export const isOfSameHost = (event: AppEvent, key: string): boolean =>
  event.host === undefined ? !key.startsWith(OF_HOST) : key.startsWith(keyOf(event, ""));

/** Names of the containers that an event is about. */
export function containersOf({ data }: Pick<AppEvent, "data">): readonly string[] {
  const { container, containers } = data as { container?: string; containers?: unknown };
  if (Array.isArray(containers)) return containers;
  return container === undefined ? [] : [container];
}

/** Returns a new envelope: the current time, a new id and this server. */
export function createEnvelope(
  { now, server }: { now: () => Date; server: ServerIdentity },
): EventEnvelope {
  return {
    timestamp: now().toISOString(),
    eventId: crypto.randomUUID(),
    server: server.name,
    serverId: server.id,
  };
}

/** Maximum number of events buffered per subscriber; a slower one loses its oldest. */
const BUFFER_MAX = 256;

export interface EventBus {
  /**
   * Passes the event to every subscriber; never waits and never throws. An event that must not be
   * lost goes through `emit()`, which also fills the outbox.
   */
  publish(event: AppEvent): void;
  /** Returns the events from now on, until `signal` aborts. */
  subscribe(signal: AbortSignal): AsyncIterable<AppEvent>;
}

/** Creates the process's event bus. */
export function createEventBus(): EventBus {
  const subscribers = new Set<(event: AppEvent) => void>();

  return {
    publish(event) {
      for (const deliver of subscribers) deliver(event);
    },

    // Subscribes at the call, not at the first read, so that no event between the two is lost.
    subscribe(signal) {
      const queue: AppEvent[] = [];
      let wake = () => {};
      const deliver = (event: AppEvent) => {
        if (queue.push(event) > BUFFER_MAX) queue.shift();
        wake();
      };
      const leave = () => {
        subscribers.delete(deliver);
        wake();
      };
      subscribers.add(deliver);
      signal.addEventListener("abort", leave, { once: true });

      return (async function* () {
        try {
          while (!signal.aborted) {
            const event = queue.shift();
            if (event) yield event;
            else await new Promise<void>((resolve) => wake = resolve);
          }
        } finally {
          signal.removeEventListener("abort", leave);
          leave();
        }
      })();
    },
  };
}

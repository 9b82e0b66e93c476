/**
 * What happens in the service, told to whoever listens: webhooks, chat channels, the SSE stream,
 * status-page subscribers, the compliance log.
 *
 * @module
 */

/** Why a container left the state `running`. */
export type DownReason = "exited" | "killed" | "oom" | "stopped";

/** Every event kind with the shape of its data. */
export interface EventMap {
  /** A container left `running` other than by an action of this service. */
  "container.down": {
    container: string;
    id: string;
    reason: DownReason;
    exitCode: number | null;
  };
  "container.up": { container: string; id: string };
  "container.unhealthy": { container: string; id: string };
  "container.oom": { container: string; id: string };
}

export type EventKind = keyof EventMap;

/** One event as subscribers and webhook receivers see it. */
export type AppEvent = {
  [Kind in EventKind]: {
    event: Kind;
    /** ISO 8601, UTC. */
    timestamp: string;
    data: EventMap[Kind];
  };
}[EventKind];

/** Most events held for one subscriber; a slower one loses its oldest. */
const BUFFER_MAX = 256;

export interface EventBus {
  /** Tells every subscriber; never waits and never throws. */
  publish<Kind extends EventKind>(event: Kind, data: EventMap[Kind]): void;
  /** The events from now on, until `signal` aborts. */
  subscribe(signal: AbortSignal): AsyncIterable<AppEvent>;
}

/** Makes the process's event bus. Publishing takes its timestamp from `now`. */
export function createEventBus(now: () => Date): EventBus {
  const subscribers = new Set<(event: AppEvent) => void>();

  return {
    publish(event, data) {
      const message = { event, timestamp: now().toISOString(), data } as AppEvent;
      for (const deliver of subscribers) deliver(message);
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

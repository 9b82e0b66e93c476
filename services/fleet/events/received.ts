/** Events that this hub has just taken from its hosts, for the clients of its streams. @module */

import type { AppEvent } from "../../events/events.ts";

/** Number of events that are kept. */
const KEPT_MAX = 1_000;

/** An event with its position, which increases. */
export interface ReceivedEvent {
  position: number;
  event: AppEvent;
}

export interface ReceivedEvents {
  add(event: AppEvent): void;
  /** Those after a position, oldest first. */
  after(position: number): readonly ReceivedEvent[];
  /** Position of the last one. */
  readonly last: number;
}

/** Positions of a later start of the service are greater. */
export function createReceivedEvents(): ReceivedEvents {
  const kept: ReceivedEvent[] = [];
  let last = Math.floor(performance.timeOrigin) * 1_000;
  return {
    add(event) {
      kept.push({ position: ++last, event });
      if (kept.length > KEPT_MAX) kept.shift();
    },
    after: (position) => kept.slice(kept.findLastIndex((each) => each.position <= position) + 1),
    get last() {
      return last;
    },
  };
}

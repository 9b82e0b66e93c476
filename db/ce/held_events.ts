/**
 * The `held_events` table: problems that began during a silence or maintenance and have not ended.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

/** A problem and what began it. The events are those of `services/events/events.ts`. */
export interface HeldEvent {
  /** Identifies the problem. */
  thread: string;
  event: object;
  /** The event that was silenced; another one if it caused `event`. */
  cause: object;
  /** ISO 8601, UTC. */
  createdAt: string;
}

const events = table<HeldEvent>("held_events", {
  thread: "value",
  event: "json",
  cause: "json",
  createdAt: "value",
}, { key: "thread" });

export const {
  /** Replaces what was held of the same problem. */
  replace: replaceHeldEvent,
  /** @returns Whether something of the problem was held. */
  delete: deleteHeldEvent,
} = events;

/** Oldest first. */
export function selectHeldEvents(db: Database): HeldEvent[] {
  return events.select(db, "ORDER BY created_at, thread");
}

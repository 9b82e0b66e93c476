/**
 * The `held_events` table: problems that began during a silence or maintenance and have not ended.
 *
 * @module
 */

import { json, type Row, table, text } from "./columns.ts";

const events = table("held_events", {
  /** Identifies the problem. */
  thread: text(),
  event: json<object>(),
  /** The event that was silenced; another one if it caused `event`. */
  cause: json<object>(),
  /** ISO 8601, UTC. */
  createdAt: text(),
}, { key: "thread", order: "created_at, thread" });

/** A problem and what began it. The events are those of `services/events/events.ts`. */
export type HeldEvent = Row<typeof events>;

export const {
  /** Replaces what was held of the same problem. */
  replace: replaceHeldEvent,
  /** @returns Whether something of the problem was held. */
  delete: deleteHeldEvent,
  /** Oldest first. */
  all: selectHeldEvents,
} = events;

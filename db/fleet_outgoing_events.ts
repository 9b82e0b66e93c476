/** The `fleet_outgoing_events` table: events of this member that its hub has not acknowledged. @module */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

/**
 * - `new`: people are to be told
 * - `told`: they were told, or need not be
 * - `late`: the hub has the event; people are to be told now
 */
export const OUTGOING_MODES = ["new", "told", "late"] as const;
export type OutgoingMode = (typeof OUTGOING_MODES)[number];

const events = table("fleet_outgoing_events", {
  /** Increases with each one. */
  sequence: number(),
  id: text(),
  mode: text<OutgoingMode>(),
  /** As in `services/events/events.ts`. */
  event: json<object>(),
  /** Id of the event that caused it. */
  rootId: text<string | null>(),
  /** Of the container that it is about. */
  stack: text<string | null>(),
  /** ISO 8601, UTC. */
  createdAt: text(),
  /** Id of this host at the hub that it is for. */
  hostId: text(),
}, { key: "sequence" });

export type OutgoingEvent = Row<typeof events>;

/** Adds an event. @param max Limit of events; those that people know of are dropped first, then the oldest. */
export function insertOutgoingEvent(
  db: Database,
  event: Omit<OutgoingEvent, "sequence">,
  max: number,
): void {
  events.insertFields(db, event);
  db.run(
    `DELETE FROM fleet_outgoing_events
     WHERE sequence IN (
       SELECT sequence FROM fleet_outgoing_events ORDER BY mode <> 'told', sequence
       LIMIT max(0, (SELECT count(*) FROM fleet_outgoing_events) - :max)
     )`,
    { max },
  );
}

/** The oldest ones for a hub. */
export const selectOutgoingEvents = (
  db: Database,
  hostId: string,
  limit: number,
): OutgoingEvent[] =>
  events.select(db, "WHERE host_id = :hostId ORDER BY sequence LIMIT :limit", { hostId, limit });

/** The oldest ones about which people are to be told. */
export const selectUntoldEvents = (db: Database, limit: number): OutgoingEvent[] =>
  events.select(db, "WHERE mode <> 'told' ORDER BY sequence LIMIT :limit", { limit });

/** The oldest ones for other hubs than that of `hostId`. */
export const selectEventsOfOthers = (
  db: Database,
  hostId: string,
  limit: number,
): OutgoingEvent[] =>
  events.select(db, "WHERE host_id <> :hostId ORDER BY sequence LIMIT :limit", { hostId, limit });

export const {
  delete: deleteOutgoingEvent,
  update: updateOutgoingEvent,
  count: countOutgoingEvents,
} = events;

export function deleteOutgoingEvents(db: Database): void {
  db.run("DELETE FROM fleet_outgoing_events");
}

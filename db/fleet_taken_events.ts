/** The `fleet_taken_events` table: ids of the last events that this hub has taken from each host. @module */

import { boolean, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const events = table("fleet_taken_events", {
  /** Increases with each one. */
  sequence: number(),
  hostId: text(),
  id: text(),
  /** Whether the host tells people itself. */
  isLeft: boolean(),
}, { key: "sequence" });

export type TakenEvent = Row<typeof events>;

export const selectTakenEvent = (
  db: Database,
  hostId: string,
  id: string,
): TakenEvent | undefined =>
  events.selectOne(db, "WHERE host_id = :hostId AND id = :id", { hostId, id });

/** Adds an event. @param kept Number of the last ones of the host that are kept. */
export function insertTakenEvent(
  db: Database,
  event: Omit<TakenEvent, "sequence">,
  kept: number,
): void {
  events.insertFields(db, event);
  db.run(
    `DELETE FROM fleet_taken_events WHERE host_id = :hostId AND sequence <= (
       SELECT sequence FROM fleet_taken_events WHERE host_id = :hostId
       ORDER BY sequence DESC LIMIT 1 OFFSET :kept
     )`,
    { hostId: event.hostId, kept },
  );
}

/** The `status_page_updates` table: the published updates of incidents. @module */

import { type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { PageIncidentStatus } from "./incidents.ts";

const updates = table("status_page_updates", {
  id: text(),
  incident_id: text(),
  /** The incident's status from then on. */
  status: text<PageIncidentStatus>(),
  /** Empty if only the status changed. */
  message: text(),
  /** ISO 8601, UTC. */
  created_at: text(),
});

/** One update as stored. */
export type IncidentUpdate = Row<typeof updates>;

export const { insert: insertIncidentUpdate } = updates;

/** The updates of several incidents, newest first. */
export function selectIncidentUpdates(
  db: Database,
  incidentIds: readonly string[],
): IncidentUpdate[] {
  return updates.select(
    db,
    `WHERE incident_id IN (SELECT value FROM json_each(:ids))
     ORDER BY created_at DESC, rowid DESC`,
    { ids: JSON.stringify(incidentIds) },
  );
}

export function countIncidentUpdates(db: Database, incidentId: string): number {
  return updates.countWhere(db, "WHERE incident_id = :incidentId", { incidentId });
}

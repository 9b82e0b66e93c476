/**
 * The `status_page_updates` table: the published updates of incidents.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { PageIncidentStatus } from "./incidents.ts";

/** One update as stored. */
export interface IncidentUpdate {
  id: string;
  incident_id: string;
  /** The incident's status from then on. */
  status: PageIncidentStatus;
  /** Empty if only the status changed. */
  message: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

const updates = table<IncidentUpdate>("status_page_updates", {
  id: "value",
  incident_id: "value",
  status: "value",
  message: "value",
  created_at: "value",
});

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

/**
 * The `status_page_updates` table: what was published about an incident, one row for each update.
 *
 * @module
 */

import type { Database } from "../../database.ts";
import type { PageIncidentStatus } from "./incidents.ts";

/** One update as stored. */
export interface IncidentUpdate {
  id: string;
  incident_id: string;
  /** The incident's status from then on. */
  status: PageIncidentStatus;
  /** Empty where only the status changed. */
  message: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

/** The updates of several incidents, newest first. */
export function selectIncidentUpdates(
  db: Database,
  incidentIds: readonly string[],
): IncidentUpdate[] {
  return db.all<IncidentUpdate>(
    `SELECT id, incident_id, status, message, created_at FROM status_page_updates
     WHERE incident_id IN (SELECT value FROM json_each(:ids))
     ORDER BY created_at DESC, rowid DESC`,
    { ids: JSON.stringify(incidentIds) },
  );
}

export function countIncidentUpdates(db: Database, incidentId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM status_page_updates WHERE incident_id = :incidentId",
    { incidentId },
  )!.n;
}

export function insertIncidentUpdate(db: Database, update: IncidentUpdate): void {
  db.run(
    `INSERT INTO status_page_updates (id, incident_id, status, message, created_at)
     VALUES (:id, :incident_id, :status, :message, :created_at)`,
    { ...update },
  );
}

/**
 * Updates of an incident on a status page. The page shows all of them as the incident's history.
 *
 * @module
 */

import type { StatusPageIncident } from "../../../db/pro/status_pages/incidents.ts";
import {
  countIncidentUpdates,
  type IncidentUpdate,
  insertIncidentUpdate,
  selectIncidentUpdates,
} from "../../../db/pro/status_pages/updates.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";

/** Limit of updates per incident; the page shows all of them. */
const UPDATES_MAX = 200;

/** An incident with its updates. */
export interface PageIncident extends StatusPageIncident {
  /** Newest first. */
  updates: Omit<IncidentUpdate, "incident_id">[];
}

export function withUpdates(
  db: Deps["db"],
  incidents: readonly StatusPageIncident[],
): PageIncident[] {
  const updates = Map.groupBy(
    selectIncidentUpdates(db, incidents.map(({ id }) => id)),
    ({ incident_id }) => incident_id,
  );
  return incidents.map((incident) => ({
    ...incident,
    updates: (updates.get(incident.id) ?? []).map(({ incident_id: _, ...update }) => update),
  }));
}

/** Adds an update with the incident's current status. */
export function addUpdate(
  db: Deps["db"],
  { id, status, updated_at }: StatusPageIncident,
  message: string,
): void {
  insertIncidentUpdate(db, {
    id: crypto.randomUUID(),
    incident_id: id,
    status,
    message,
    created_at: updated_at,
  });
}

/** @throws {AppError} `conflict` */
export function assertBelowUpdateLimit(db: Deps["db"], incidentId: string): void {
  if (countIncidentUpdates(db, incidentId) < UPDATES_MAX) return;
  throw new AppError("conflict", `Limit of ${UPDATES_MAX} updates per incident reached`);
}

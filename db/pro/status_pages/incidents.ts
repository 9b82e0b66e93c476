/**
 * The `status_page_incidents` table: what is wrong, as a status page tells it.
 *
 * @module
 */

import type { Database } from "../../database.ts";

export const PAGE_INCIDENT_SEVERITIES = ["minor", "major", "critical", "maintenance"] as const;
export type PageIncidentSeverity = (typeof PAGE_INCIDENT_SEVERITIES)[number];

export const PAGE_INCIDENT_STATUSES = [
  "investigating",
  "identified",
  "monitoring",
  "resolved",
] as const;
export type PageIncidentStatus = (typeof PAGE_INCIDENT_STATUSES)[number];

/** One incident as stored. Times are ISO 8601, UTC. */
export interface StatusPageIncident {
  id: string;
  page_id: string;
  title: string;
  message: string;
  severity: PageIncidentSeverity;
  status: PageIncidentStatus;
  created_at: string;
  updated_at: string;
  /** `null` unless it is resolved. */
  resolved_at: string | null;
}

const COLUMNS = `
  id, page_id, title, message, severity, status, created_at, updated_at, resolved_at`;

interface IncidentFilter {
  pageId: string;
  /** Default: any. */
  status?: PageIncidentStatus | undefined;
}

/** Newest first. */
export function selectPageIncidents(
  db: Database,
  { pageId, status, limit, offset }: IncidentFilter & { limit: number; offset: number },
): StatusPageIncident[] {
  return db.all<StatusPageIncident>(
    `SELECT ${COLUMNS} FROM status_page_incidents
     WHERE page_id = :pageId AND (:status IS NULL OR status = :status)
     ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset`,
    { pageId, status: status ?? null, limit, offset },
  );
}

export function countPageIncidents(db: Database, { pageId, status }: IncidentFilter): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM status_page_incidents
     WHERE page_id = :pageId AND (:status IS NULL OR status = :status)`,
    { pageId, status: status ?? null },
  )!.n;
}

/** Those that are not resolved, newest first. */
export function selectActivePageIncidents(
  db: Database,
  pageId: string,
  limit: number,
): StatusPageIncident[] {
  return db.all<StatusPageIncident>(
    `SELECT ${COLUMNS} FROM status_page_incidents
     WHERE page_id = :pageId AND resolved_at IS NULL
     ORDER BY created_at DESC, id LIMIT :limit`,
    { pageId, limit },
  );
}

/** Those that were resolved after a time, the last resolved first. */
export function selectPageIncidentsResolvedAfter(
  db: Database,
  pageId: string,
  after: string,
  limit: number,
): StatusPageIncident[] {
  return db.all<StatusPageIncident>(
    `SELECT ${COLUMNS} FROM status_page_incidents
     WHERE page_id = :pageId AND resolved_at > :after
     ORDER BY resolved_at DESC, id LIMIT :limit`,
    { pageId, after, limit },
  );
}

/** One incident of a page, or `undefined` when the page has none with that id. */
export function selectPageIncident(
  db: Database,
  pageId: string,
  id: string,
): StatusPageIncident | undefined {
  return db.get<StatusPageIncident>(
    `SELECT ${COLUMNS} FROM status_page_incidents WHERE id = :id AND page_id = :pageId`,
    { id, pageId },
  );
}

export function insertPageIncident(db: Database, incident: StatusPageIncident): void {
  db.run(
    `INSERT INTO status_page_incidents (${COLUMNS})
     VALUES (:id, :page_id, :title, :message, :severity, :status, :created_at, :updated_at,
       :resolved_at)`,
    { ...incident },
  );
}

export function updatePageIncident(db: Database, incident: StatusPageIncident): void {
  const { page_id: _, created_at: __, ...row } = incident;
  db.run(
    `UPDATE status_page_incidents
     SET title = :title, message = :message, severity = :severity, status = :status,
       updated_at = :updated_at, resolved_at = :resolved_at
     WHERE id = :id`,
    row,
  );
}

export function deletePageIncident(db: Database, id: string): void {
  db.run("DELETE FROM status_page_incidents WHERE id = :id", { id });
}

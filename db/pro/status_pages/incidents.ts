/**
 * The `status_page_incidents` table: incidents published on status pages.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { Page } from "../../page.ts";

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
  /** `null` until it is resolved. */
  resolved_at: string | null;
}

const incidents = table<StatusPageIncident>("status_page_incidents", {
  id: "value",
  page_id: "value",
  title: "value",
  message: "value",
  severity: "value",
  status: "value",
  created_at: "value",
  updated_at: "value",
  resolved_at: "value",
});

export const {
  insert: insertPageIncident,
  save: updatePageIncident,
  delete: deletePageIncident,
} = incidents;

const FILTER = "WHERE page_id = :pageId AND (:status IS NULL OR status = :status)";

interface IncidentFilter {
  pageId: string;
  /** Default: any. */
  status?: PageIncidentStatus | undefined;
}

/** Newest first. */
export function selectPageIncidents(
  db: Database,
  { pageId, status, limit, offset }: IncidentFilter & Page,
): StatusPageIncident[] {
  return incidents.select(
    db,
    `${FILTER} ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset`,
    { pageId, status: status ?? null, limit, offset },
  );
}

export function countPageIncidents(db: Database, { pageId, status }: IncidentFilter): number {
  return incidents.countWhere(db, FILTER, { pageId, status: status ?? null });
}

/** Unresolved incidents, newest first. */
export function selectActivePageIncidents(
  db: Database,
  pageId: string,
  limit: number,
): StatusPageIncident[] {
  return incidents.select(
    db,
    `WHERE page_id = :pageId AND resolved_at IS NULL ORDER BY created_at DESC, id LIMIT :limit`,
    { pageId, limit },
  );
}

/** Incidents resolved after a time, last resolved first. */
export function selectPageIncidentsResolvedAfter(
  db: Database,
  pageId: string,
  after: string,
  limit: number,
): StatusPageIncident[] {
  return incidents.select(
    db,
    `WHERE page_id = :pageId AND resolved_at > :after ORDER BY resolved_at DESC, id LIMIT :limit`,
    { pageId, after, limit },
  );
}

/** One incident of a page, or `undefined` when the page has none with that id. */
export function selectPageIncident(
  db: Database,
  pageId: string,
  id: string,
): StatusPageIncident | undefined {
  return incidents.selectOne(db, "WHERE id = :id AND page_id = :pageId", { id, pageId });
}

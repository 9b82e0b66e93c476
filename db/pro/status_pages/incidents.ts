/** The `status_page_incidents` table: incidents published on status pages. @module */

import { type Row, table, text } from "../../columns.ts";
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

const incidents = table("status_page_incidents", {
  id: text(),
  page_id: text(),
  title: text(),
  message: text(),
  severity: text<PageIncidentSeverity>(),
  status: text<PageIncidentStatus>(),
  created_at: text(),
  updated_at: text(),
  /** `null` until it is resolved. */
  resolved_at: text<string | null>(),
}, { order: "created_at DESC, id" });

/** One incident as stored. Times are ISO 8601, UTC. */
export type StatusPageIncident = Row<typeof incidents>;

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
  return incidents.page(db, { limit, offset }, FILTER, { pageId, status: status ?? null });
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

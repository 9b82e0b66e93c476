/**
 * Incidents of a status page: what is wrong, told to the world in words. They are written by
 * people, apart from the incidents that the team works with.
 *
 * @module
 */

import {
  countPageIncidents,
  deletePageIncident,
  insertPageIncident,
  PAGE_INCIDENT_SEVERITIES,
  PAGE_INCIDENT_STATUSES,
  type PageIncidentSeverity,
  type PageIncidentStatus,
  selectPageIncident,
  selectPageIncidents,
  type StatusPageIncident,
  updatePageIncident,
} from "../../db/pro/status_page_incidents.ts";
import type { StatusPage } from "../../db/pro/status_pages.ts";
import type { Deps } from "../deps.ts";
import { emit, type EmitDeps } from "../emit.ts";
import { notFound } from "../errors.ts";
import type { EventMap } from "../events.ts";
import { existingPage } from "./existing_page.ts";
import { forgetPublicPages } from "./status_page_public.ts";

export { PAGE_INCIDENT_SEVERITIES, PAGE_INCIDENT_STATUSES, type StatusPageIncident };

export interface NewPageIncident {
  title: string;
  message: string;
  severity: PageIncidentSeverity;
  status: PageIncidentStatus;
}

/** What an update may say; what it leaves out stays. */
export type PageIncidentChange = {
  [Field in keyof NewPageIncident]?: NewPageIncident[Field] | undefined;
};

/** Newest first. @throws {AppError} `not_found`. */
export function listPageIncidents(
  { db }: Pick<Deps, "db">,
  pageId: string,
  { status, limit, offset }: {
    status?: PageIncidentStatus | undefined;
    limit: number;
    offset: number;
  },
): { incidents: StatusPageIncident[]; total: number; limit: number; offset: number } {
  existingPage(db, pageId);
  const incidents = selectPageIncidents(db, { pageId, status, limit, offset });
  return { incidents, total: countPageIncidents(db, { pageId, status }), limit, offset };
}

/** Stores a new incident and tells the page's subscribers. @throws {AppError} `not_found`. */
export function createPageIncident(
  deps: EmitDeps,
  pageId: string,
  { title, message, severity, status }: NewPageIncident,
): StatusPageIncident {
  const { db, now, log } = deps;
  const page = existingPage(db, pageId);
  const at = now().toISOString();
  const incident: StatusPageIncident = {
    id: crypto.randomUUID(),
    page_id: pageId,
    title,
    message,
    severity,
    status,
    created_at: at,
    updated_at: at,
    resolved_at: status === "resolved" ? at : null,
  };
  emit(deps, "status_page.updated", updateOf(page, incident, null), () => {
    insertPageIncident(db, incident);
    forgetPublicPages(deps);
  });
  log.info("status page incident created", { pageId, incidentId: incident.id });
  return incident;
}

/**
 * Changes what is given and keeps the rest. Resolving notes the time, reopening forgets it. The
 * page's subscribers are told of another status and of another message.
 *
 * @throws {AppError} `not_found` also for an incident of another page.
 */
export function changePageIncident(
  deps: EmitDeps,
  pageId: string,
  id: string,
  change: PageIncidentChange,
): StatusPageIncident {
  const { db, now, log } = deps;
  const page = existingPage(db, pageId);
  const incident = existing(db, pageId, id);
  const at = now().toISOString();
  const status = change.status ?? incident.status;
  const next: StatusPageIncident = {
    ...incident,
    title: change.title ?? incident.title,
    message: change.message ?? incident.message,
    severity: change.severity ?? incident.severity,
    status,
    updated_at: at,
    resolved_at: status === "resolved" ? incident.resolved_at ?? at : null,
  };
  const store = () => {
    updatePageIncident(db, next);
    forgetPublicPages(deps);
  };
  const hasNews = next.status !== incident.status || next.message !== incident.message;
  if (hasNews) emit(deps, "status_page.updated", updateOf(page, next, incident.status), store);
  else store();
  log.info("status page incident changed", { pageId, incidentId: id, status });
  return existing(db, pageId, id);
}

/** @throws {AppError} `not_found` also for an incident of another page. */
export function removePageIncident(
  deps: Pick<Deps, "db" | "log">,
  pageId: string,
  id: string,
): void {
  const { db, log } = deps;
  existingPage(db, pageId);
  existing(db, pageId, id);
  deletePageIncident(db, id);
  forgetPublicPages(deps);
  log.info("status page incident deleted", { pageId, incidentId: id });
}

function updateOf(
  page: StatusPage,
  { title, status, message }: StatusPageIncident,
  oldStatus: PageIncidentStatus | null,
): EventMap["status_page.updated"] {
  return {
    page: page.name,
    pageId: page.id,
    component: null,
    incident: title,
    oldStatus,
    newStatus: status,
    message: message === "" ? null : message,
  };
}

function existing(db: Deps["db"], pageId: string, id: string): StatusPageIncident {
  const incident = selectPageIncident(db, pageId, id);
  if (!incident) throw notFound("Incident", id);
  return incident;
}

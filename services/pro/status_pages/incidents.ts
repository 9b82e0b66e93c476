/**
 * Published incidents of a status page. They are written by users and are independent of the
 * team's internal incidents.
 *
 * @module
 */

import type { Page, Paged } from "../../../db/page.ts";
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
} from "../../../db/pro/status_pages/incidents.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { requireFound } from "../../errors.ts";
import type { EventMap } from "../../events/kinds/mod.ts";
import { requirePage } from "./page_lookup.ts";
import { addUpdate, assertBelowUpdateLimit, type PageIncident, withUpdates } from "./updates.ts";

export { PAGE_INCIDENT_SEVERITIES, PAGE_INCIDENT_STATUSES };

interface NewPageIncident {
  title: string;
  message: string;
  severity: PageIncidentSeverity;
  status: PageIncidentStatus;
}

interface NewIncidentUpdate {
  message: string;
  /** Default: unchanged. */
  status?: PageIncidentStatus | undefined;
}

/** Newest first. @throws {AppError} `not_found`. */
export function listPageIncidents(
  { db }: Pick<Deps, "db">,
  pageId: string,
  { status, ...page }: Page & { status?: PageIncidentStatus | undefined },
): { incidents: PageIncident[] } & Paged {
  requirePage(db, pageId);
  const incidents = withUpdates(db, selectPageIncidents(db, { pageId, status, ...page }));
  return { incidents, total: countPageIncidents(db, { pageId, status }), ...page };
}

/** Stores a new incident and notifies the page's subscribers. @throws {AppError} `not_found`. */
export function createPageIncident(
  deps: EmitDeps,
  pageId: string,
  { title, message, severity, status }: NewPageIncident,
): PageIncident {
  const { db, now, log, statusPages } = deps;
  const page = requirePage(db, pageId);
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
  emit(deps, "status_page.updated", toEventData(page, incident, null), () => {
    insertPageIncident(db, incident);
    addUpdate(db, incident, message);
    statusPages.clear();
  });
  log.info("status page incident created", { pageId, incidentId: incident.id });
  return loadIncident(db, pageId, incident.id);
}

/**
 * Publishes an update of an incident and notifies the page's subscribers. The message of the update
 * becomes the incident's message.
 *
 * @throws {AppError} `not_found` also for an incident of another page; `conflict` if it has too
 * many updates.
 */
export function addPageIncidentUpdate(
  deps: EmitDeps,
  pageId: string,
  id: string,
  update: NewIncidentUpdate,
): PageIncident {
  const { db } = deps;
  const page = requirePage(db, pageId);
  const incident = requireIncident(db, pageId, id);
  publish(deps, page, incident, changeFields(deps, incident, update), update.message);
  return loadIncident(db, pageId, id);
}

/**
 * Changes the given fields. Resolving sets `resolved_at`, reopening clears it. A new status or
 * message is published as an update.
 *
 * @throws {AppError} `not_found` also for an incident of another page; `conflict` if it has too
 * many updates.
 */
export function changePageIncident(
  deps: EmitDeps,
  pageId: string,
  id: string,
  change: Change<NewPageIncident>,
): PageIncident {
  const { db, log, statusPages } = deps;
  const page = requirePage(db, pageId);
  const incident = requireIncident(db, pageId, id);
  const next = changeFields(deps, incident, change);
  const hasNewMessage = next.message !== incident.message;
  if (hasNewMessage || next.status !== incident.status) {
    publish(deps, page, incident, next, hasNewMessage ? next.message : "");
  } else {
    updatePageIncident(db, next);
    statusPages.clear();
  }
  log.info("status page incident changed", { pageId, incidentId: id, status: next.status });
  return loadIncident(db, pageId, id);
}

/** @throws {AppError} `not_found` also for an incident of another page. */
export function removePageIncident(
  { db, log, statusPages }: Pick<Deps, "db" | "log" | "statusPages">,
  pageId: string,
  id: string,
): void {
  requirePage(db, pageId);
  requireIncident(db, pageId, id);
  deletePageIncident(db, id);
  statusPages.clear();
  log.info("status page incident deleted", { pageId, incidentId: id });
}

function changeFields(
  { now }: Pick<Deps, "now">,
  incident: StatusPageIncident,
  change: Change<NewPageIncident>,
): StatusPageIncident {
  const at = now().toISOString();
  const next = applyChange(incident, change);
  return {
    ...next,
    updated_at: at,
    resolved_at: next.status === "resolved" ? incident.resolved_at ?? at : null,
  };
}

/** Stores an incident with an update, and notifies the subscribers. */
function publish(
  deps: EmitDeps,
  page: StatusPage,
  before: StatusPageIncident,
  next: StatusPageIncident,
  message: string,
): void {
  const { db, statusPages } = deps;
  assertBelowUpdateLimit(db, next.id);
  emit(deps, "status_page.updated", toEventData(page, next, before.status), () => {
    updatePageIncident(db, next);
    addUpdate(db, next, message);
    statusPages.clear();
  });
}

function toEventData(
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

function requireIncident(db: Deps["db"], pageId: string, id: string): StatusPageIncident {
  return requireFound(selectPageIncident(db, pageId, id), "Incident", id);
}

const loadIncident = (db: Deps["db"], pageId: string, id: string): PageIncident =>
  withUpdates(db, [requireIncident(db, pageId, id)])[0]!;

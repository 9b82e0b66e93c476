/**
 * Incidents of a status page, as published. They are written by people and separate from the
 * incidents that the team works with.
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
} from "../../../db/pro/status_pages/incidents.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { notFound } from "../../errors.ts";
import type { EventMap } from "../../events/events.ts";
import { existingPage } from "./existing_page.ts";
import { forgetPublicPages } from "./public.ts";
import { addUpdate, assertRoomForUpdate, type PageIncident, withUpdates } from "./updates.ts";

export { PAGE_INCIDENT_SEVERITIES, PAGE_INCIDENT_STATUSES };

export interface NewPageIncident {
  title: string;
  message: string;
  severity: PageIncidentSeverity;
  status: PageIncidentStatus;
}

export interface NewIncidentUpdate {
  message: string;
  /** Default: as before. */
  status?: PageIncidentStatus | undefined;
}

/** Fields that are left out keep their value. */
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
): { incidents: PageIncident[]; total: number; limit: number; offset: number } {
  existingPage(db, pageId);
  const incidents = withUpdates(db, selectPageIncidents(db, { pageId, status, limit, offset }));
  return { incidents, total: countPageIncidents(db, { pageId, status }), limit, offset };
}

/** Stores a new incident and notifies the page's subscribers. @throws {AppError} `not_found`. */
export function createPageIncident(
  deps: EmitDeps,
  pageId: string,
  { title, message, severity, status }: NewPageIncident,
): PageIncident {
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
    addUpdate(db, incident, message);
    forgetPublicPages(deps);
  });
  log.info("status page incident created", { pageId, incidentId: incident.id });
  return shown(db, pageId, incident.id);
}

/**
 * Publishes an update of an incident and notifies the page's subscribers. Its message is the
 * incident's message from then on.
 *
 * @throws {AppError} `not_found` also for an incident of another page; `conflict` when it has too
 * many updates.
 */
export function addPageIncidentUpdate(
  deps: EmitDeps,
  pageId: string,
  id: string,
  update: NewIncidentUpdate,
): PageIncident {
  const { db } = deps;
  const page = existingPage(db, pageId);
  const incident = existing(db, pageId, id);
  publish(deps, page, incident, changed(deps, incident, update), update.message);
  return shown(db, pageId, id);
}

/**
 * Changes the given fields and keeps the rest. Resolving sets `resolved_at`, reopening clears it.
 * Another status or another message is published as a new update.
 *
 * @throws {AppError} `not_found` also for an incident of another page; `conflict` when it has too
 * many updates.
 */
export function changePageIncident(
  deps: EmitDeps,
  pageId: string,
  id: string,
  change: PageIncidentChange,
): PageIncident {
  const { db } = deps;
  const page = existingPage(db, pageId);
  const incident = existing(db, pageId, id);
  const next = changed(deps, incident, change);
  const hasNewMessage = next.message !== incident.message;
  if (hasNewMessage || next.status !== incident.status) {
    publish(deps, page, incident, next, hasNewMessage ? next.message : "");
  } else {
    updatePageIncident(db, next);
    forgetPublicPages(deps);
  }
  deps.log.info("status page incident changed", { pageId, incidentId: id, status: next.status });
  return shown(db, pageId, id);
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

function changed(
  { now }: Pick<Deps, "now">,
  incident: StatusPageIncident,
  change: PageIncidentChange,
): StatusPageIncident {
  const at = now().toISOString();
  const status = change.status ?? incident.status;
  return {
    ...incident,
    title: change.title ?? incident.title,
    message: change.message ?? incident.message,
    severity: change.severity ?? incident.severity,
    status,
    updated_at: at,
    resolved_at: status === "resolved" ? incident.resolved_at ?? at : null,
  };
}

/** Stores an incident with an update of it, and notifies the subscribers. */
function publish(
  deps: EmitDeps,
  page: StatusPage,
  before: StatusPageIncident,
  next: StatusPageIncident,
  message: string,
): void {
  const { db } = deps;
  assertRoomForUpdate(db, next.id);
  emit(deps, "status_page.updated", updateOf(page, next, before.status), () => {
    updatePageIncident(db, next);
    addUpdate(db, next, message);
    forgetPublicPages(deps);
  });
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

const shown = (db: Deps["db"], pageId: string, id: string): PageIncident =>
  withUpdates(db, [existing(db, pageId, id)])[0]!;

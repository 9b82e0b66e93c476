/** Incidents with their status and timeline. @module */

import type { Page, Paged } from "../../../db/page.ts";
import {
  countTimeline,
  insertTimelineEntry,
  type NoteType,
  selectTimeline,
  type TimelineEntry,
  type TimelineType,
} from "../../../db/pro/incident_timeline.ts";
import {
  countIncidents,
  deleteIncident,
  deleteIncidentsBeyond,
  type Incident,
  type IncidentSettings,
  type IncidentStatus,
  insertIncident,
  selectIncident,
  selectIncidents,
  type StoredIncident,
  updateIncident,
} from "../../../db/pro/incidents.ts";
import type { Caller } from "../../access/caller.ts";
import { describeCaller } from "../../access/users/users.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { AppError, notFound, requireFound } from "../../errors.ts";
import type { EventMap } from "../../events/kinds/mod.ts";
import type { IncidentData } from "../../events/kinds/incidents.ts";

export { NOTE_TYPES, TIMELINE_TYPES } from "../../../db/pro/incident_timeline.ts";
export {
  INCIDENT_SEVERITIES,
  INCIDENT_SOURCES,
  INCIDENT_STATUSES,
} from "../../../db/pro/incidents.ts";

/** The author of automatic entries. */
export const SYSTEM_AUTHOR = "system";

/** Entries that users can add to a timeline, which is returned without paging. */
const TIMELINE_MAX = 1_000;

/** Resolved incidents to keep; the oldest are deleted. */
const RESOLVED_MAX = 10_000;

/** An incident with its timeline, newest first. */
type IncidentDetail = Incident & { timeline: TimelineEntry[] };

/** Newest first. */
export function listIncidents(
  { db }: Pick<Deps, "db">,
  { status, ...page }: Page & { status?: IncidentStatus | undefined },
): { incidents: Incident[] } & Paged {
  return {
    incidents: selectIncidents(db, { status, ...page }),
    total: countIncidents(db, status),
    ...page,
  };
}

/** @throws {AppError} `not_found`. */
export function getIncident({ db }: Pick<Deps, "db">, id: string): IncidentDetail {
  return { ...requireIncident(db, id), timeline: selectTimeline(db, id) };
}

/** Opens an incident for a user. */
export function createIncident(
  deps: EmitDeps,
  settings: IncidentSettings,
  caller: Caller,
): Incident {
  const incident = newIncident(deps, {
    ...settings,
    source: "manual",
    source_id: null,
    cause_id: null,
    created_by: authorOf(deps, caller),
  });
  emit(deps, "incident.created", toIncidentData(incident), () => {
    insertIncident(deps.db, incident);
    insertEntry(deps, incident, { type: "status_change", message: "Incident opened" });
  });
  return incident;
}

/** Changes all fields but the status. @throws {AppError} `not_found`. */
export function changeIncident(
  deps: EmitDeps,
  id: string,
  change: Change<IncidentSettings>,
): Incident {
  const before = requireIncident(deps.db, id);
  const changed = applyChange(before, change);
  const fields = Object.keys(change) as (keyof IncidentSettings)[];
  if (fields.every((field) => changed[field] === before[field])) return before;
  const incident = { ...changed, updated_at: deps.now().toISOString() };
  emit(
    deps,
    "incident.updated",
    toUpdateData(before, incident, undefined),
    () => updateIncident(deps.db, incident),
  );
  return incident;
}

/**
 * Changes the status, in any direction, and adds it to the timeline. If the status is the same, a
 * message is added as an update.
 *
 * @throws {AppError} `not_found`.
 */
export function changeIncidentStatus(
  deps: EmitDeps,
  id: string,
  { status, message }: { status: IncidentStatus; message?: string | undefined },
  caller: Caller,
): Incident {
  const before = requireIncident(deps.db, id);
  if (before.status === status && message === undefined) return before;
  const author = authorOf(deps, caller);
  if (before.status === status) {
    addTimelineEntry(deps, id, { type: "update", message: message! }, caller);
    return requireIncident(deps.db, id);
  }
  const incident = withStatus(deps, before, status);
  const store = () => storeStatusChange(deps, before, incident, { message, author });
  if (status === "resolved") emit(deps, "incident.resolved", toIncidentData(incident), store);
  else emit(deps, "incident.updated", toUpdateData(before, incident, message), store);
  return incident;
}

/**
 * Adds an entry to the timeline. An entry of type `update` is also published as an event.
 *
 * @throws {AppError} `not_found`; `conflict` when the timeline is full.
 */
export function addTimelineEntry(
  deps: EmitDeps,
  id: string,
  { type, message }: { type: NoteType; message: string },
  caller: Caller,
): TimelineEntry {
  const { db, now } = deps;
  const before = requireIncident(db, id);
  if (countTimeline(db, id) >= TIMELINE_MAX) {
    throw new AppError("conflict", `Limit of ${TIMELINE_MAX} timeline entries reached`);
  }
  const incident = { ...before, updated_at: now().toISOString() };
  const author = authorOf(deps, caller);
  let entry: TimelineEntry | undefined;
  const store = () => {
    updateIncident(db, incident);
    entry = insertEntry(deps, incident, { type, message, author });
  };
  if (type === "update") {
    emit(deps, "incident.updated", toUpdateData(before, incident, message), store);
  } else db.transaction(store);
  return entry!;
}

/** Deletes an incident with its timeline. @throws {AppError} `not_found`. */
export function removeIncident({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteIncident(db, id)) throw notFound("Incident", id);
}

export function sweepIncidents({ db }: Pick<Deps, "db">): void {
  deleteIncidentsBeyond(db, RESOLVED_MAX);
}

/** Creates an open incident. One with a cause is resolved automatically when the cause ends. */
export function newIncident(
  { now }: Pick<Deps, "now">,
  fields:
    & IncidentSettings
    & Pick<StoredIncident, "source" | "source_id" | "cause_id" | "created_by">,
): StoredIncident {
  const at = now().toISOString();
  return {
    ...fields,
    id: crypto.randomUUID(),
    status: "open",
    follows_cause: fields.cause_id !== null,
    created_at: at,
    updated_at: at,
    resolved_at: null,
  };
}

/** Returns the incident with a new status. A resolved one no longer follows its cause. */
export function withStatus(
  { now }: Pick<Deps, "now">,
  incident: StoredIncident,
  status: IncidentStatus,
): StoredIncident {
  const at = now().toISOString();
  return {
    ...incident,
    status,
    updated_at: at,
    resolved_at: status === "resolved" ? at : null,
    follows_cause: incident.follows_cause && status !== "resolved",
  };
}

/** Stores a status change and its timeline entry. Must be called in a transaction. */
export function storeStatusChange(
  deps: Pick<Deps, "db" | "now">,
  before: StoredIncident,
  incident: StoredIncident,
  { message, author }: { message: string | undefined; author: string },
): void {
  const change = `Status changed from ${before.status} to ${incident.status}`;
  updateIncident(deps.db, incident);
  insertEntry(deps, incident, {
    type: "status_change",
    message: message === undefined ? change : `${change}: ${message}`,
    author,
  });
}

/** Adds a timeline entry. Must be called in a transaction. */
export function insertEntry(
  { db, now }: Pick<Deps, "db" | "now">,
  { id, created_by }: Pick<Incident, "id" | "created_by">,
  { type, message, author = created_by }: {
    type: TimelineType;
    message: string;
    /** Default: the user who opened the incident. */
    author?: string;
  },
): TimelineEntry {
  const created_at = now().toISOString();
  const entry: TimelineEntry = { id: crypto.randomUUID(), type, message, author, created_at };
  insertTimelineEntry(db, id, entry);
  return entry;
}

/** The incident as event data. */
export function toIncidentData({ id, title, severity, status, source }: Incident): IncidentData {
  return { id, title, severity, status, source };
}

function toUpdateData(
  before: Incident,
  incident: Incident,
  message: string | undefined,
): EventMap["incident.updated"] {
  return { ...toIncidentData(incident), previousStatus: before.status, message: message ?? null };
}

/** The caller's email, which stays readable after the user is deleted; `key` in key mode. */
function authorOf(deps: Pick<Deps, "config" | "db">, caller: Caller): string {
  return describeCaller(deps, caller).email ?? caller.userId;
}

function requireIncident(db: Deps["db"], id: string): StoredIncident {
  return requireFound(selectIncident(db, id), "Incident", id);
}

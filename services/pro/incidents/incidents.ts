/**
 * Incidents: what went wrong, who repairs it, and what was done about it.
 *
 * @module
 */

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
import type { Caller } from "../../auth/caller.ts";
import { describeCaller } from "../../ce/auth/users.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { AppError, notFound } from "../../errors.ts";
import type { EventMap, IncidentData } from "../../events/events.ts";

export { NOTE_TYPES, TIMELINE_TYPES } from "../../../db/pro/incident_timeline.ts";
export {
  INCIDENT_SEVERITIES,
  INCIDENT_SOURCES,
  INCIDENT_STATUSES,
} from "../../../db/pro/incidents.ts";
export type { Incident, IncidentStatus };

/** The author of what writes itself. */
export const AUTOMATIC = "system";

/** Most entries of a user in the timeline of an incident, which is shown as a whole. */
const TIMELINE_MAX = 1_000;

/** Most resolved incidents that are kept. */
const RESOLVED_MAX = 10_000;

/** An incident with what was done about it, newest first. */
export type IncidentDetail = Incident & { timeline: TimelineEntry[] };

/** What an update may bring; what is left out stays. */
export type IncidentChanges = {
  [Name in keyof IncidentSettings]?: IncidentSettings[Name] | undefined;
};

/** Newest first. */
export function listIncidents(
  { db }: Pick<Deps, "db">,
  { status, limit, offset }: {
    status?: IncidentStatus | undefined;
    limit: number;
    offset: number;
  },
): { incidents: Incident[]; total: number; limit: number; offset: number } {
  return {
    incidents: selectIncidents(db, { status, limit, offset }),
    total: countIncidents(db, status),
    limit,
    offset,
  };
}

/** @throws {AppError} `not_found`. */
export function getIncident({ db }: Pick<Deps, "db">, id: string): IncidentDetail {
  return { ...existing(db, id), timeline: selectTimeline(db, id) };
}

/** Opens an incident by hand. */
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
  emit(deps, "incident.created", dataOf(incident), () => {
    insertIncident(deps.db, incident);
    writeEntry(deps, incident, { type: "status_change", message: "Incident opened" });
  });
  return incident;
}

/** Changes what an incident says; its status has a way of its own. @throws {AppError} `not_found`. */
export function changeIncident(deps: EmitDeps, id: string, changes: IncidentChanges): Incident {
  const before = existing(deps.db, id);
  const given = Object.fromEntries(
    Object.entries(changes).filter(([name, value]) =>
      value !== undefined && value !== before[name as keyof IncidentSettings]
    ),
  );
  if (Object.keys(given).length === 0) return before;
  const incident = { ...before, ...given, updated_at: deps.now().toISOString() };
  const data = { ...dataOf(incident), previousStatus: before.status, message: null };
  emit(deps, "incident.updated", data, () => updateIncident(deps.db, incident));
  return incident;
}

/**
 * Takes an incident from one status to another, in any direction, and writes that down. Where the
 * status stays, a message is written down as an update.
 *
 * @throws {AppError} `not_found`.
 */
export function changeIncidentStatus(
  deps: EmitDeps,
  id: string,
  { status, message }: { status: IncidentStatus; message?: string | undefined },
  caller: Caller,
): Incident {
  const before = existing(deps.db, id);
  if (before.status === status && message === undefined) return before;
  const author = authorOf(deps, caller);
  if (before.status === status) {
    addTimelineEntry(deps, id, { type: "update", message: message! }, caller);
    return existing(deps.db, id);
  }
  const incident = inStatus(deps, before, status);
  const store = () => storeStatusChange(deps, before, incident, { message, author });
  if (status === "resolved") emit(deps, "incident.resolved", dataOf(incident), store);
  else emit(deps, "incident.updated", updateOf(before, incident, message), store);
  return incident;
}

/**
 * Writes down what somebody did or wants to say. An update is told to whoever listens.
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
  const before = existing(db, id);
  if (countTimeline(db, id) >= TIMELINE_MAX) {
    throw new AppError("conflict", `The timeline has ${TIMELINE_MAX} entries, which is the limit`);
  }
  const incident = { ...before, updated_at: now().toISOString() };
  const author = authorOf(deps, caller);
  let entry: TimelineEntry | undefined;
  const store = () => {
    updateIncident(db, incident);
    entry = writeEntry(deps, incident, { type, message, author });
  };
  if (type === "update") emit(deps, "incident.updated", updateOf(before, incident, message), store);
  else db.transaction(store);
  return entry!;
}

/** Deletes an incident with its timeline. @throws {AppError} `not_found`. */
export function removeIncident({ db }: Pick<Deps, "db">, id: string): void {
  if (!deleteIncident(db, id)) throw notFound("Incident", id);
}

export function sweepIncidents({ db }: Pick<Deps, "db">): void {
  deleteIncidentsBeyond(db, RESOLVED_MAX);
}

/** An incident that is open as of now. One with a cause follows it to its end. */
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

/** The incident in another status as of now; once resolved it no longer waits for its cause. */
export function inStatus(
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

/** Stores the change with its entry in the timeline; only inside a transaction. */
export function storeStatusChange(
  deps: Pick<Deps, "db" | "now">,
  before: StoredIncident,
  incident: StoredIncident,
  { message, author }: { message: string | undefined; author: string },
): void {
  const change = `Status changed from ${before.status} to ${incident.status}`;
  updateIncident(deps.db, incident);
  writeEntry(deps, incident, {
    type: "status_change",
    message: message === undefined ? change : `${change}: ${message}`,
    author,
  });
}

/** Adds to the timeline; only inside a transaction. */
export function writeEntry(
  { db, now }: Pick<Deps, "db" | "now">,
  { id, created_by }: Pick<Incident, "id" | "created_by">,
  { type, message, author = created_by }: {
    type: TimelineType;
    message: string;
    /** Default: who opened the incident. */
    author?: string;
  },
): TimelineEntry {
  const created_at = now().toISOString();
  const entry: TimelineEntry = { id: crypto.randomUUID(), type, message, author, created_at };
  insertTimelineEntry(db, id, entry);
  return entry;
}

/** What an incident's events carry. */
export function dataOf({ id, title, severity, status, source }: Incident): IncidentData {
  return { id, title, severity, status, source };
}

function updateOf(
  before: Incident,
  incident: Incident,
  message: string | undefined,
): EventMap["incident.updated"] {
  return { ...dataOf(incident), previousStatus: before.status, message: message ?? null };
}

/** By the email, which people read and which stays when the user goes; `key` in key mode. */
function authorOf(deps: Pick<Deps, "config" | "db">, caller: Caller): string {
  return describeCaller(deps, caller).email ?? caller.userId;
}

function existing(db: Deps["db"], id: string): StoredIncident {
  const incident = selectIncident(db, id);
  if (!incident) throw notFound("Incident", id);
  return incident;
}

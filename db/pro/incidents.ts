/** The `incidents` table: problems, and the progress of their repair. @module */

import { boolean, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";

/** From the most to the least severe. */
export const INCIDENT_SEVERITIES = ["critical", "major", "minor", "info"] as const;
type IncidentSeverity = (typeof INCIDENT_SEVERITIES)[number];

export const INCIDENT_STATUSES = [
  "open",
  "investigating",
  "identified",
  "monitoring",
  "resolved",
] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

export const INCIDENT_SOURCES = ["manual", "monitor", "alert"] as const;
type IncidentSource = (typeof INCIDENT_SOURCES)[number];

const incidents = table("incidents", {
  id: text(),
  title: text(),
  severity: text<IncidentSeverity>(),
  status: text<IncidentStatus>(),
  description: text<string | null>(),
  /** Name of the person who leads the repair. */
  commander: text<string | null>(),
  source: text<IncidentSource>(),
  /** The monitor or the alert rule that caused it; `null` for a manual one. */
  source_id: text<string | null>(),
  /** The outage or the alert event that caused it; `null` for a manual one. */
  cause_id: text<string | null>(),
  /** Whether it is resolved automatically when its cause ends. */
  follows_cause: boolean(),
  created_by: text(),
  created_at: text(),
  updated_at: text(),
  /** `null` until it is resolved. */
  resolved_at: text<string | null>(),
}, { order: "created_at DESC, id" });

/** One incident as stored. Times are ISO 8601, UTC. */
export type StoredIncident = Row<typeof incidents>;

/** One incident as shown. */
export type Incident = Omit<StoredIncident, "cause_id" | "follows_cause">;

/** Fields of an incident that users set. */
export type IncidentSettings = Pick<
  Incident,
  "title" | "severity" | "description" | "commander"
>;

export const {
  find: selectIncident,
  save: updateIncident,
  /** Deletes an incident with its timeline. */
  delete: deleteIncident,
} = incidents;

/** Newest first; with a status, only the incidents in it. */
export function selectIncidents(
  db: Database,
  { status, ...page }: Page & { status?: IncidentStatus | undefined },
): StoredIncident[] {
  return incidents.page(db, page, whereStatus(status), { ...(status && { status }) });
}

export function countIncidents(db: Database, status?: IncidentStatus): number {
  return incidents.countWhere(db, whereStatus(status), { ...(status && { status }) });
}

/** The incident that is resolved when an outage or an alert event ends. */
export function selectIncidentFollowing(db: Database, causeId: string): StoredIncident | undefined {
  return incidents.selectOne(db, "WHERE cause_id = :causeId AND follows_cause = 1", { causeId });
}

/** Incidents that are resolved when their cause ends. */
export function selectFollowingIncidents(db: Database): StoredIncident[] {
  return incidents.select(db, "WHERE follows_cause = 1 ORDER BY id");
}

/** @returns Whether it was stored: each cause has at most one incident. */
export function insertIncident(db: Database, incident: StoredIncident): boolean {
  return incidents.insertFields(db, incident, "ON CONFLICT (cause_id) DO NOTHING");
}

/**
 * Deletes the resolved incidents beyond the newest `keep` incidents.
 *
 * @returns How many were deleted.
 */
export function deleteIncidentsBeyond(db: Database, keep: number): number {
  return db.run(
    `DELETE FROM incidents WHERE status = 'resolved' AND id IN (
       SELECT id FROM incidents ORDER BY created_at DESC, id LIMIT -1 OFFSET :keep
     )`,
    { keep },
  );
}

const whereStatus = (status: IncidentStatus | undefined) =>
  status === undefined ? "" : "WHERE status = :status";

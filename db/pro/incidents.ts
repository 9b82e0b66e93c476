/**
 * The `incidents` table: what went wrong, and how far its repair has come.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** From worst to least. */
export const INCIDENT_SEVERITIES = ["critical", "major", "minor", "info"] as const;
export type IncidentSeverity = (typeof INCIDENT_SEVERITIES)[number];

export const INCIDENT_STATUSES = [
  "open",
  "investigating",
  "identified",
  "monitoring",
  "resolved",
] as const;
export type IncidentStatus = (typeof INCIDENT_STATUSES)[number];

export const INCIDENT_SOURCES = ["manual", "monitor", "alert"] as const;
export type IncidentSource = (typeof INCIDENT_SOURCES)[number];

/** What a user decides about an incident. */
export interface IncidentSettings {
  title: string;
  severity: IncidentSeverity;
  description: string | null;
  /** Who leads the repair; any name. */
  commander: string | null;
}

/** One incident as shown. Times are ISO 8601, UTC. */
export interface Incident extends IncidentSettings {
  id: string;
  status: IncidentStatus;
  source: IncidentSource;
  /** The monitor or the alert rule that it came from; `null` for a manual one. */
  source_id: string | null;
  created_by: string;
  created_at: string;
  updated_at: string;
  /** `null` while it is not resolved. */
  resolved_at: string | null;
}

/** One incident as stored. */
export interface StoredIncident extends Incident {
  /** The outage or the alert event that it is about; `null` for a manual one. */
  cause_id: string | null;
  /** Whether it is resolved by itself when its cause ends. */
  follows_cause: boolean;
}

const COLUMNS = `
  id, title, severity, status, description, commander, source, source_id, cause_id, follows_cause,
  created_by, created_at, updated_at, resolved_at`;

type Row = Omit<StoredIncident, "follows_cause"> & { follows_cause: number };

const fromRow = (row: Row): StoredIncident => ({ ...row, follows_cause: row.follows_cause === 1 });

const toRow = (incident: StoredIncident) => ({
  ...incident,
  follows_cause: Number(incident.follows_cause),
});

/** Newest first; with a status, only those in it. */
export function selectIncidents(
  db: Database,
  { status, limit, offset }: { status?: IncidentStatus | undefined; limit: number; offset: number },
): StoredIncident[] {
  return db.all<Row>(
    `SELECT ${COLUMNS} FROM incidents ${whereStatus(status)}
     ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset`,
    { limit, offset, ...(status && { status }) },
  ).map(fromRow);
}

export function countIncidents(db: Database, status?: IncidentStatus): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM incidents ${whereStatus(status)}`,
    { ...(status && { status }) },
  )!.n;
}

/** One incident, or `undefined` when the id is unknown. */
export function selectIncident(db: Database, id: string): StoredIncident | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM incidents WHERE id = :id`, { id });
  return row && fromRow(row);
}

/** The one about an outage or an alert event that is to end with it. */
export function selectIncidentFollowing(
  db: Database,
  causeId: string,
): StoredIncident | undefined {
  const row = db.get<Row>(
    `SELECT ${COLUMNS} FROM incidents WHERE cause_id = :causeId AND follows_cause = 1`,
    { causeId },
  );
  return row && fromRow(row);
}

/** Those that wait for the end of their cause. */
export function selectFollowingIncidents(db: Database): StoredIncident[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM incidents WHERE follows_cause = 1 ORDER BY id`)
    .map(fromRow);
}

/** @returns Whether it was stored: there is at most one about each cause. */
export function insertIncident(db: Database, incident: StoredIncident): boolean {
  return db.run(
    `INSERT INTO incidents (${COLUMNS})
     VALUES (:id, :title, :severity, :status, :description, :commander, :source, :source_id,
       :cause_id, :follows_cause, :created_by, :created_at, :updated_at, :resolved_at)
     ON CONFLICT (cause_id) DO NOTHING`,
    toRow(incident),
  ) > 0;
}

/** Stores everything about an incident that can change. */
export function updateIncident(db: Database, incident: StoredIncident): void {
  const {
    source: _,
    source_id: __,
    cause_id: ___,
    created_by: ____,
    created_at: _____,
    ...values
  } = toRow(incident);
  db.run(
    `UPDATE incidents SET title = :title, severity = :severity, status = :status,
       description = :description, commander = :commander, follows_cause = :follows_cause,
       updated_at = :updated_at, resolved_at = :resolved_at
     WHERE id = :id`,
    values,
  );
}

/** Deletes it with its timeline. @returns Whether the id was known. */
export function deleteIncident(db: Database, id: string): boolean {
  return db.run("DELETE FROM incidents WHERE id = :id", { id }) > 0;
}

/** Deletes all resolved ones but the newest. @returns How many went. */
export function deleteIncidentsBeyond(db: Database, keep: number): number {
  return db.run(
    `DELETE FROM incidents WHERE status = 'resolved' AND id IN (
       SELECT id FROM incidents ORDER BY created_at DESC, id LIMIT -1 OFFSET :keep
     )`,
    { keep },
  );
}

/** Fixed text: the value itself is bound. */
const whereStatus = (status: IncidentStatus | undefined) =>
  status === undefined ? "" : "WHERE status = :status";

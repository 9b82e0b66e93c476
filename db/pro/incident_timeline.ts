/**
 * The `incident_timeline` table: what was done about an incident, and by whom.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** What a user may write; changes of the status write themselves. */
export const NOTE_TYPES = ["note", "action", "update"] as const;
export type NoteType = (typeof NOTE_TYPES)[number];

export const TIMELINE_TYPES = [...NOTE_TYPES, "status_change"] as const;
export type TimelineType = (typeof TIMELINE_TYPES)[number];

export interface TimelineEntry {
  id: string;
  type: TimelineType;
  message: string;
  /** Who wrote it, as `created_by` of an incident. */
  author: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

/** Newest first. */
export function selectTimeline(db: Database, incidentId: string): TimelineEntry[] {
  // Of the same millisecond, the one that was written later is the newer one.
  return db.all<TimelineEntry>(
    `SELECT id, type, message, author, created_at FROM incident_timeline
     WHERE incident_id = :incidentId ORDER BY created_at DESC, rowid DESC`,
    { incidentId },
  );
}

export function countTimeline(db: Database, incidentId: string): number {
  return db.get<{ n: number }>(
    "SELECT count(*) AS n FROM incident_timeline WHERE incident_id = :incidentId",
    { incidentId },
  )!.n;
}

export function insertTimelineEntry(
  db: Database,
  incidentId: string,
  entry: TimelineEntry,
): void {
  db.run(
    `INSERT INTO incident_timeline (id, incident_id, type, message, author, created_at)
     VALUES (:id, :incidentId, :type, :message, :author, :created_at)`,
    { ...entry, incidentId },
  );
}

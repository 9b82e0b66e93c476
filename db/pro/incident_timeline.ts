/** The `incident_timeline` table: what was done about an incident, and by which user. @module */

import { type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

/** Types that users can write; status changes are recorded automatically. */
export const NOTE_TYPES = ["note", "action", "update"] as const;
export type NoteType = (typeof NOTE_TYPES)[number];

export const TIMELINE_TYPES = [...NOTE_TYPES, "status_change"] as const;
export type TimelineType = (typeof TIMELINE_TYPES)[number];

const entries = table("incident_timeline", {
  id: text(),
  incident_id: text(),
  type: text<TimelineType>(),
  message: text(),
  /** The writer, as `created_by` of an incident. */
  author: text(),
  /** ISO 8601, UTC. */
  created_at: text(),
});

export type TimelineEntry = Omit<Row<typeof entries>, "incident_id">;

/** Newest first. */
export function selectTimeline(db: Database, incidentId: string): TimelineEntry[] {
  // The row id orders entries of the same millisecond.
  return db.all<TimelineEntry>(
    `SELECT id, type, message, author, created_at FROM incident_timeline
     WHERE incident_id = :incidentId ORDER BY created_at DESC, rowid DESC`,
    { incidentId },
  );
}

export function countTimeline(db: Database, incidentId: string): number {
  return entries.countWhere(db, "WHERE incident_id = :incidentId", { incidentId });
}

export function insertTimelineEntry(db: Database, incidentId: string, entry: TimelineEntry): void {
  entries.insert(db, { ...entry, incident_id: incidentId });
}

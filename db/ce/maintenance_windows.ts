/**
 * The `maintenance_windows` table: maintenance that recurs.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Target } from "../target.ts";

/** One window as stored. */
export interface StoredMaintenanceWindow {
  id: string;
  /** When it opens: five fields. */
  cron: string;
  /** IANA name. */
  timeZone: string;
  durationMinutes: number;
  scope: { target: Target };
  comment: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

const windows = table<StoredMaintenanceWindow>("maintenance_windows", {
  id: "value",
  cron: "value",
  timeZone: "value",
  durationMinutes: "value",
  scope: "json",
  comment: "value",
  createdAt: "value",
});

export const {
  find: selectMaintenanceWindow,
  count: countMaintenanceWindows,
  insert: insertMaintenanceWindow,
  save: updateMaintenanceWindow,
  delete: deleteMaintenanceWindow,
} = windows;

/** Oldest first. */
export function selectMaintenanceWindows(db: Database): StoredMaintenanceWindow[] {
  return windows.select(db, "ORDER BY created_at, id");
}

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

/** Oldest first. */
export function selectMaintenanceWindows(db: Database): StoredMaintenanceWindow[] {
  return windows.select(db, "ORDER BY created_at, id");
}

/** One window, or `undefined` when the id is unknown. */
export function selectMaintenanceWindow(
  db: Database,
  id: string,
): StoredMaintenanceWindow | undefined {
  return windows.find(db, id);
}

export function countMaintenanceWindows(db: Database): number {
  return windows.count(db);
}

export function insertMaintenanceWindow(db: Database, window: StoredMaintenanceWindow): void {
  windows.insert(db, window);
}

export function updateMaintenanceWindow(db: Database, window: StoredMaintenanceWindow): void {
  windows.update(db, window.id, window);
}

/** @returns Whether the id was known. */
export function deleteMaintenanceWindow(db: Database, id: string): boolean {
  return windows.delete(db, id);
}

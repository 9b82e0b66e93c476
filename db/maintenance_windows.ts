/** The `maintenance_windows` table: maintenance that recurs. @module */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Target } from "./target.ts";

const windows = table("maintenance_windows", {
  id: text(),
  /** When it opens: five fields. */
  cron: text(),
  /** IANA name. */
  timeZone: text(),
  durationMinutes: number(),
  scope: json<{ target: Target }>(),
  comment: text(),
  /** ISO 8601, UTC. */
  createdAt: text(),
}, { order: "created_at, id" });

/** One window as stored. */
export type StoredMaintenanceWindow = Row<typeof windows>;

export const {
  find: selectMaintenanceWindow,
  count: countMaintenanceWindows,
  insert: insertMaintenanceWindow,
  save: updateMaintenanceWindow,
  delete: deleteMaintenanceWindow,
  /** Oldest first. */
  all: selectMaintenanceWindows,
} = windows;

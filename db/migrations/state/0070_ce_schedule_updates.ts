import type { Migration } from "../../migrate.ts";

// Schedules can update containers. SQLite cannot change a CHECK, so that a new column replaces the
// old one; it must have a default, which no INSERT uses.
export const migration: Migration = {
  name: "0070_ce_schedule_updates",
  sql: ["schedules", "schedule_runs"].map((table) => `
    ALTER TABLE ${table} RENAME COLUMN action TO old_action;
    ALTER TABLE ${table} ADD COLUMN action TEXT NOT NULL DEFAULT 'start'
      CHECK (action IN ('start', 'stop', 'restart', 'update'));
    UPDATE ${table} SET action = old_action;
    ALTER TABLE ${table} DROP COLUMN old_action;
  `).join(""),
};

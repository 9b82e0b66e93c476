import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0007_maintenance_windows",
  sql: `
    CREATE TABLE maintenance_windows (
      id               TEXT PRIMARY KEY,
      cron             TEXT NOT NULL,
      time_zone        TEXT NOT NULL,
      duration_minutes INTEGER NOT NULL,
      scope            TEXT NOT NULL CHECK (json_valid(scope)),
      comment          TEXT NOT NULL,
      created_at       TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
  `,
};

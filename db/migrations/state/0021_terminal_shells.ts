import type { Migration } from "../../migrate.ts";

// Shells that a crash of the service would leave running.
export const migration: Migration = {
  name: "0021_terminal_shells",
  sql: `
    CREATE TABLE terminal_shells (
      mark         TEXT PRIMARY KEY, -- in the environment of its processes
      container_id TEXT NOT NULL,
      user         TEXT, -- NULL: that of the container
      created_at   TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
  `,
};

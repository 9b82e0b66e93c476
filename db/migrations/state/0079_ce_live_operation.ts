import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0079_ce_live_operation",
  sql: `
    -- Of a job on a container, when the job was created.
    ALTER TABLE jobs ADD COLUMN stack TEXT;

    -- Shells that a crash of the service would leave running.
    CREATE TABLE terminal_shells (
      mark         TEXT PRIMARY KEY, -- in the environment of its processes
      container_id TEXT NOT NULL,
      user         TEXT, -- NULL: that of the container
      created_at   TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;
  `,
};

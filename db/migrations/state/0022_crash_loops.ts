import type { Migration } from "../../migrate.ts";

// The last exits of containers, and the containers that are in a crash loop.
export const migration: Migration = {
  name: "0022_crash_loops",
  sql: `
    CREATE TABLE crash_loops (
      container    TEXT PRIMARY KEY, -- its name, which survives a replacement
      container_id TEXT NOT NULL,
      exits        TEXT NOT NULL CHECK (json_valid(exits)), -- times of the last exits
      exit_count   INTEGER NOT NULL,
      since        TEXT, -- the first of these exits; NULL: not a crash loop (yet)
      stopped      INTEGER NOT NULL CHECK (stopped IN (0, 1)), -- it was stopped, not started since
      changed_at   TEXT NOT NULL -- the last exit, stop or start; ISO 8601, UTC
    ) STRICT;
  `,
};

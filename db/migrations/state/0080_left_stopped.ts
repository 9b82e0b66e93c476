import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0080_left_stopped",
  sql: `
    -- Containers with the restart policy "no" until they are started.
    CREATE TABLE left_stopped (
      container_id        TEXT PRIMARY KEY,
      policy              TEXT NOT NULL,
      maximum_retry_count INTEGER NOT NULL
    ) STRICT;
  `,
};

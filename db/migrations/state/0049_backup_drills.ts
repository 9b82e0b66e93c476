import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0049_backup_drills",
  sql: `
    -- A drill outlives its job, its snapshot and its target: hence the copied names.
    CREATE TABLE backup_drills (
      id          TEXT PRIMARY KEY, -- of its job
      stack       TEXT NOT NULL,
      snapshot    TEXT NOT NULL,
      target      TEXT NOT NULL, -- its name
      ok          INTEGER NOT NULL CHECK (ok IN (0, 1)),
      reason      TEXT NOT NULL,
      duration_ms INTEGER NOT NULL,
      at          TEXT NOT NULL -- its end; ISO 8601, UTC
    ) STRICT;
    CREATE INDEX backup_drills_by_stack ON backup_drills (stack, at DESC);
  `,
};

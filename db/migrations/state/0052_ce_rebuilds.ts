import type { Migration } from "../../migrate.ts";

// The names of containers can be chosen by anyone. Only what is recorded here before the first step
// is continued or taken back after a crash.
export const migration: Migration = {
  name: "0052_ce_rebuilds",
  sql: `
    CREATE TABLE rebuilds (
      old_id TEXT PRIMARY KEY,
      name   TEXT NOT NULL,
      ran    INTEGER NOT NULL CHECK (ran IN (0, 1)),
      new_id TEXT -- NULL until the new container is created
    ) STRICT, WITHOUT ROWID;
  `,
};

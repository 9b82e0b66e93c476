import type { Migration } from "../../migrate.ts";

// Any user of the engine can choose container names. Only replacements recorded here before their
// first step are continued or rolled back after a crash.
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

import type { Migration } from "../../migrate.ts";

// A name alone does not show that a container belongs to a replacement: others could choose it.
export const migration: Migration = {
  name: "0041_temporary_names",
  sql: `
    CREATE TABLE temporary_names (
      container_id TEXT PRIMARY KEY,
      name         TEXT NOT NULL -- the original one
    ) STRICT, WITHOUT ROWID;
  `,
};

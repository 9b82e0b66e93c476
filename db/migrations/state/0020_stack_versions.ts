import type { Migration } from "../../migrate.ts";

// The newest version of a stack is its current source.
export const migration: Migration = {
  name: "0020_stack_versions",
  sql: `
    CREATE TABLE stack_versions (
      stack         TEXT NOT NULL,
      version       INTEGER NOT NULL CHECK (version > 0),
      kind          TEXT NOT NULL CHECK (kind IN ('compose', 'swarm')),
      sealed_source TEXT NOT NULL, -- encrypted: Compose files often contain passwords
      created_by    TEXT NOT NULL, -- id of the user
      created_at    TEXT NOT NULL, -- ISO 8601, UTC
      PRIMARY KEY (stack, version)
    ) STRICT, WITHOUT ROWID;
  `,
};

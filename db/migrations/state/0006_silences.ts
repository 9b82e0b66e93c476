import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0006_silences",
  sql: `
    CREATE TABLE silences (
      id         TEXT PRIMARY KEY,
      matchers   TEXT NOT NULL CHECK (json_valid(matchers)),
      starts_at  TEXT NOT NULL, -- ISO 8601, UTC
      ends_at    TEXT NOT NULL,
      comment    TEXT NOT NULL,
      created_by TEXT NOT NULL,
      created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX silences_by_end ON silences (ends_at);

    -- Problems that began during a silence or maintenance. The row goes when the problem ends, or
    -- when it is reported because it lasted longer than the silence.
    CREATE TABLE held_events (
      thread     TEXT PRIMARY KEY,
      event      TEXT NOT NULL CHECK (json_valid(event)),
      cause      TEXT NOT NULL CHECK (json_valid(cause)), -- the event that was silenced
      created_at TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};

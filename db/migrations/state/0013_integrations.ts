import type { Migration } from "../../migrate.ts";

// The results of polls are stored with the collected data, in the other database: they change with
// each poll, and the next poll restores them.
export const migration: Migration = {
  name: "0013_integrations",
  sql: `
    CREATE TABLE integrations (
      id              TEXT PRIMARY KEY,
      name            TEXT NOT NULL,
      adapter         TEXT NOT NULL,
      config          TEXT NOT NULL CHECK (json_valid(config)), -- secrets redacted
      secrets         TEXT NOT NULL, -- the values redacted in config, encrypted
      poll_interval_s INTEGER NOT NULL CHECK (poll_interval_s BETWEEN 10 AND 86400),
      enabled         INTEGER NOT NULL DEFAULT 1 CHECK (enabled IN (0, 1)),
      created_at      TEXT NOT NULL, -- ISO 8601, UTC
      updated_at      TEXT NOT NULL  -- ISO 8601, UTC
    ) STRICT;
  `,
};

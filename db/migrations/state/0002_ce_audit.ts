import type { Migration } from "../../migrate.ts";

// An entry outlives its actor and its target, hence the copied names and no foreign keys.
export const migration: Migration = {
  name: "0002_ce_audit",
  sql: `
    CREATE TABLE audit_entries (
      id      TEXT PRIMARY KEY,
      at      TEXT NOT NULL, -- ISO 8601, UTC
      actor   TEXT NOT NULL, -- id of the user, 'key', or empty without a token
      role    TEXT NOT NULL,
      action  TEXT NOT NULL, -- method and path pattern
      target  TEXT NOT NULL, -- the path's parameters
      outcome TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'denied')),
      ip      TEXT NOT NULL
    ) STRICT;
    CREATE INDEX audit_entries_by_time ON audit_entries (at DESC, id);
  `,
};

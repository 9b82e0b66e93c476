import type { Migration } from "../../migrate.ts";

// An entry outlives its actor and its target, hence the copied names and no foreign keys. The email is
// stored as it was at that time. Triggers maintain the searchable copy of the targets, so that no
// writer can omit it.
export const migration: Migration = {
  name: "0004_audit",
  sql: `
    CREATE TABLE audit_entries (
      id          TEXT PRIMARY KEY,
      at          TEXT NOT NULL, -- ISO 8601, UTC
      actor       TEXT NOT NULL, -- id of the user, 'key', or empty without a token
      role        TEXT NOT NULL,
      action      TEXT NOT NULL, -- method and path pattern
      target      TEXT NOT NULL, -- the path's parameters
      outcome     TEXT NOT NULL CHECK (outcome IN ('success', 'failure', 'denied')),
      ip          TEXT NOT NULL,
      actor_email TEXT, -- NULL: not a user, or not recorded
      targets     TEXT NOT NULL DEFAULT '[]', -- JSON array of text
      command     TEXT,
      token       TEXT -- JSON: id and name; NULL: a login
    ) STRICT;
    CREATE INDEX audit_entries_by_time ON audit_entries (at DESC, id);

    CREATE TABLE audit_targets (
      target   TEXT NOT NULL COLLATE NOCASE,
      entry_id TEXT NOT NULL,
      PRIMARY KEY (target, entry_id)
    ) STRICT, WITHOUT ROWID;
    CREATE TRIGGER audit_targets_insert AFTER INSERT ON audit_entries BEGIN
      INSERT OR IGNORE INTO audit_targets (target, entry_id)
        SELECT value, new.id FROM json_each(new.targets);
    END;
    CREATE TRIGGER audit_targets_delete AFTER DELETE ON audit_entries BEGIN
      DELETE FROM audit_targets WHERE entry_id = old.id;
    END;

    CREATE INDEX audit_targets_by_entry ON audit_targets (entry_id);
    CREATE INDEX audit_entries_by_actor ON audit_entries (actor, at);
    CREATE INDEX audit_entries_by_email ON audit_entries (actor_email COLLATE NOCASE, at);
    CREATE INDEX audit_entries_by_action ON audit_entries (action, at);
    CREATE INDEX audit_entries_by_outcome ON audit_entries (outcome, at);
  `,
};

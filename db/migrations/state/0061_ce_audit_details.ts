import type { Migration } from "../../migrate.ts";

// The email is stored as it was at that time: users change and are deleted, entries remain.
// Triggers maintain the searchable copy of the targets, so that no writer can omit it.
export const migration: Migration = {
  name: "0061_ce_audit_details",
  sql: `
    ALTER TABLE audit_entries ADD COLUMN actor_email TEXT; -- NULL: not a user, or not recorded
    ALTER TABLE audit_entries ADD COLUMN targets TEXT NOT NULL DEFAULT '[]'; -- JSON array of text
    ALTER TABLE audit_entries ADD COLUMN command TEXT;
    UPDATE audit_entries SET targets = json_array(target) WHERE target <> '';

    CREATE TABLE audit_targets (
      target   TEXT NOT NULL COLLATE NOCASE,
      entry_id TEXT NOT NULL,
      PRIMARY KEY (target, entry_id)
    ) STRICT, WITHOUT ROWID;
    INSERT OR IGNORE INTO audit_targets (target, entry_id)
      SELECT item.value, entry.id FROM audit_entries AS entry, json_each(entry.targets) AS item;
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

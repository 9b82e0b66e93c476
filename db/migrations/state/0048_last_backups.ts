import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0048_last_backups",
  sql: `
    CREATE TABLE last_backups (
      subject   TEXT NOT NULL, -- e.g. "stack shop", "volumes a, b"
      stack     TEXT, -- NULL for volumes
      target_id TEXT NOT NULL REFERENCES backup_targets (id) ON DELETE CASCADE,
      at        TEXT NOT NULL, -- ISO 8601, UTC
      snapshot  TEXT NOT NULL,
      size      INTEGER NOT NULL, -- of its files, in bytes
      PRIMARY KEY (subject, target_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX last_backups_by_target ON last_backups (target_id);
  `,
};

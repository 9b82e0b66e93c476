import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0040_backup_targets",
  sql: `
    CREATE TABLE backup_targets (
      id               TEXT PRIMARY KEY,
      name             TEXT NOT NULL UNIQUE,
      location         TEXT NOT NULL UNIQUE, -- a directory, s3:URL or rest:URL
      is_default       INTEGER NOT NULL CHECK (is_default IN (0, 1)),
      access_key_id    TEXT,
      region           TEXT,
      username         TEXT,
      ca_certificate   TEXT, -- PEM
      sealed_secrets   TEXT NOT NULL, -- encrypted JSON
      last_test_at     TEXT, -- ISO 8601, UTC
      last_test_error  TEXT,
      last_check_at    TEXT,
      last_check_error TEXT,
      created_at       TEXT NOT NULL,
      updated_at       TEXT NOT NULL
    ) STRICT;
    CREATE UNIQUE INDEX backup_targets_default ON backup_targets (is_default) WHERE is_default = 1;
  `,
};

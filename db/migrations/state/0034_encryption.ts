import type { Migration } from "../../migrate.ts";

// Settings and records only; they encrypt nothing. A unique index ensures that at most one rotation
// is pending, even with several processes.
export const migration: Migration = {
  name: "0034_encryption",
  sql: `
    CREATE TABLE encryption_config (
      id             INTEGER PRIMARY KEY CHECK (id = 1),
      enabled        INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      algorithm      TEXT NOT NULL CHECK (algorithm IN ('aes-256-cbc', 'aes-256-gcm')),
      kdf_iterations INTEGER NOT NULL CHECK (kdf_iterations BETWEEN 100000 AND 5000000),
      page_size      INTEGER NOT NULL CHECK (
        page_size IN (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
      )
    ) STRICT;
    -- The defaults of SQLCipher 4.
    INSERT INTO encryption_config VALUES (1, 0, 'aes-256-cbc', 256000, 4096);

    CREATE TABLE key_rotations (
      id           TEXT PRIMARY KEY,
      status       TEXT NOT NULL CHECK (status IN ('pending', 'completed', 'failed', 'cancelled')),
      notes        TEXT NOT NULL,
      initiated_by TEXT NOT NULL, -- a user's id, or key
      started_at   TEXT NOT NULL, -- ISO 8601, UTC
      completed_at TEXT CHECK ((completed_at IS NULL) = (status = 'pending'))
    ) STRICT;
    CREATE UNIQUE INDEX key_rotations_pending ON key_rotations (status) WHERE status = 'pending';
    CREATE INDEX key_rotations_by_start ON key_rotations (started_at DESC, id);
    CREATE INDEX key_rotations_by_end ON key_rotations (status, completed_at);

    CREATE TABLE encryption_audit (
      id         TEXT PRIMARY KEY,
      event_type TEXT NOT NULL CHECK (event_type IN (
        'config_updated', 'rotation_initiated', 'rotation_ended', 'audit_purged'
      )),
      detail     TEXT NOT NULL,
      actor      TEXT NOT NULL, -- a user's id, or key
      ip         TEXT NOT NULL,
      created_at TEXT NOT NULL
    ) STRICT;
    CREATE INDEX encryption_audit_by_time ON encryption_audit (created_at DESC, id);
    CREATE INDEX encryption_audit_by_type ON encryption_audit (event_type, created_at DESC, id);
  `,
};

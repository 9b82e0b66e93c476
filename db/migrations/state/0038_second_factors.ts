import type { Migration } from "../../migrate.ts";

// Second factors of an account, and whether the identity provider of a login has asked for several.
export const migration: Migration = {
  name: "0038_second_factors",
  sql: `
    CREATE TABLE totp_secrets (
      user_id      TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
      secret       TEXT NOT NULL, -- encrypted
      created_at   TEXT NOT NULL, -- ISO 8601, UTC
      confirmed_at TEXT, -- NULL before the first right code
      last_step    INTEGER NOT NULL DEFAULT -1 -- of the last accepted code; earlier ones are refused
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE recovery_codes (
      user_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      code_hash TEXT NOT NULL, -- SHA-256, base64url
      used_at   TEXT, -- NULL while it can be used
      PRIMARY KEY (user_id, code_hash)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE passkeys (
      id            TEXT PRIMARY KEY,
      user_id       TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
      name          TEXT NOT NULL,
      credential_id TEXT NOT NULL UNIQUE, -- base64url
      public_key    TEXT NOT NULL, -- COSE key, base64url
      rp_id         TEXT NOT NULL, -- host that it was created for
      counter       INTEGER NOT NULL, -- of its last signature
      transports    TEXT NOT NULL, -- JSON
      created_at    TEXT NOT NULL,
      last_used_at  TEXT
    ) STRICT;
    CREATE INDEX passkeys_by_user ON passkeys (user_id, created_at);

    ALTER TABLE sessions ADD COLUMN has_second_factor INTEGER NOT NULL DEFAULT 0
      CHECK (has_second_factor IN (0, 1));
  `,
};

import type { Migration } from "../../migrate.ts";

// Every login begins a family of tokens: each use of its refresh token spends it and adds the next.
// Spent ones are kept until they expire, for the use of a spent token is what gives a thief away.
// The rows also tell which logins a user has, so that all of them can be ended.
// `user_id` is no foreign key: in key mode the caller is `key`, who has no row.
export const migration: Migration = {
  name: "0001_ce_users",
  sql: `
    CREATE TABLE users (
      id            TEXT PRIMARY KEY,
      email         TEXT NOT NULL,
      email_key     TEXT NOT NULL UNIQUE, -- what addresses are compared by: without case
      password_hash TEXT, -- NULL: no login by password
      role          TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
      created_at    TEXT NOT NULL, -- ISO 8601, UTC
      last_login_at TEXT
    ) STRICT;

    CREATE TABLE refresh_tokens (
      token_hash TEXT PRIMARY KEY, -- SHA-256, base64url
      family_id  TEXT NOT NULL,
      user_id    TEXT NOT NULL,
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      spent_at   TEXT,
      revoked_at TEXT -- refused although unspent, while the family's access tokens go on
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);
    CREATE INDEX refresh_tokens_by_user ON refresh_tokens (user_id, family_id);
    CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);

    -- Families that were ended (logout, reuse, password): their access tokens end at once as well.
    CREATE TABLE revoked_families (
      family_id  TEXT PRIMARY KEY,
      expires_at TEXT NOT NULL -- when its last access token would have ended
    ) STRICT, WITHOUT ROWID;

    -- Single values of the installation, e.g. the hash of the API key.
    CREATE TABLE settings (
      name  TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};

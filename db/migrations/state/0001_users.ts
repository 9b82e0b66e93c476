import type { Migration } from "../../migrate.ts";

// Each login starts a family of tokens: using its refresh token spends it and adds the next one.
// Spent tokens are kept until they expire, because reuse of a spent token reveals a theft. The rows
// also list the logins of a user, so that all of them can be ended. `user_id` is not a foreign key:
// in key mode the caller is `key`, which has no row.
export const migration: Migration = {
  name: "0001_users",
  sql: `
    CREATE TABLE users (
      id                   TEXT PRIMARY KEY,
      email                TEXT NOT NULL,
      email_key            TEXT NOT NULL UNIQUE, -- in lower case, for comparison
      password_hash        TEXT, -- NULL: no login by password
      role                 TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
      created_at           TEXT NOT NULL, -- ISO 8601, UTC
      last_login_at        TEXT,
      name                 TEXT,
      -- 1: the user entered the address, and no admin or identity provider confirmed it.
      is_email_unconfirmed INTEGER NOT NULL DEFAULT 0
    ) STRICT;

    CREATE TABLE refresh_tokens (
      token_hash TEXT PRIMARY KEY, -- SHA-256, base64url
      family_id  TEXT NOT NULL,
      user_id    TEXT NOT NULL,
      created_at TEXT NOT NULL,
      expires_at TEXT NOT NULL,
      spent_at   TEXT,
      revoked_at TEXT, -- refused, although the family's access tokens remain valid
      spent_from TEXT, -- address that may use a spent token again for some seconds; NULL: none
      page_hash  TEXT -- SHA-256 of the page's secret; NULL: not issued as a cookie
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX refresh_tokens_by_family ON refresh_tokens (family_id);
    CREATE INDEX refresh_tokens_by_user ON refresh_tokens (user_id, family_id);
    CREATE INDEX refresh_tokens_by_expiry ON refresh_tokens (expires_at);
    CREATE INDEX refresh_tokens_by_page ON refresh_tokens (page_hash) WHERE page_hash IS NOT NULL;

    -- Ended families (logout, reuse, password change), whose access tokens are refused.
    CREATE TABLE revoked_families (
      family_id  TEXT PRIMARY KEY,
      expires_at TEXT NOT NULL -- when its last access token expires
    ) STRICT, WITHOUT ROWID;

    -- Single values of the installation, e.g. the hash of the API key.
    CREATE TABLE settings (
      name  TEXT PRIMARY KEY,
      value TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
  `,
};

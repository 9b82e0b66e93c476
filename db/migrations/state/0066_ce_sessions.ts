import type { Migration } from "../../migrate.ts";

// Where and how a login is used, for the user to see. Logins from before are shown without an
// address.
export const migration: Migration = {
  name: "0066_ce_sessions",
  sql: `
    CREATE TABLE sessions (
      id           TEXT PRIMARY KEY, -- the family of its tokens
      user_id      TEXT NOT NULL, -- 'key' in key mode
      address      TEXT, -- of the last sign-in or refresh
      user_agent   TEXT,
      created_at   TEXT NOT NULL, -- ISO 8601, UTC
      last_used_at TEXT NOT NULL,
      expires_at   TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sessions_by_user ON sessions (user_id, last_used_at);
    CREATE INDEX sessions_by_expiry ON sessions (expires_at);

    INSERT INTO sessions (id, user_id, created_at, last_used_at, expires_at)
      SELECT family_id, user_id, min(created_at), max(created_at), max(expires_at)
        FROM refresh_tokens WHERE revoked_at IS NULL GROUP BY family_id, user_id;

    -- Addresses and browsers from which users signed in, to recognize new ones.
    CREATE TABLE known_clients (
      user_id TEXT NOT NULL,
      network TEXT NOT NULL, -- an IPv4 address or a /64 of IPv6
      browser TEXT NOT NULL, -- User-Agent without version numbers
      seen_at TEXT NOT NULL,
      PRIMARY KEY (user_id, network, browser)
    ) STRICT, WITHOUT ROWID;
  `,
};

import type { Migration } from "../../migrate.ts";

// The address and the browser of a login, for the user to see.
export const migration: Migration = {
  name: "0002_sessions",
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

// Rows of a hub. A host that has left keeps its row until an admin deletes it, so that its name and
// its end stay visible. An invite outlives its uses until it expires, for the same reason.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0052_fleet_hosts",
  sql: `
    CREATE TABLE fleet_invites (
      id             TEXT PRIMARY KEY,
      secret         TEXT NOT NULL, -- sealed
      name           TEXT,          -- of the only host that it is for
      pattern        TEXT,          -- that the names of hosts must match
      labels         TEXT NOT NULL, -- JSON object
      address        TEXT NOT NULL, -- of this hub, as members dial it
      uses_max       INTEGER NOT NULL CHECK (uses_max >= 1),
      uses           INTEGER NOT NULL DEFAULT 0 CHECK (uses <= uses_max),
      accepts_at_once INTEGER NOT NULL CHECK (accepts_at_once IN (0, 1)),
      created_by     TEXT NOT NULL,
      created_at     TEXT NOT NULL,
      expires_at     TEXT NOT NULL
    ) STRICT;

    CREATE TABLE fleet_hosts (
      id           TEXT PRIMARY KEY,
      name         TEXT NOT NULL UNIQUE,
      labels       TEXT NOT NULL, -- JSON object
      link_key     TEXT NOT NULL UNIQUE, -- X25519, base64url
      note_key     TEXT NOT NULL, -- Ed25519, base64url
      machine      TEXT NOT NULL,
      version      TEXT NOT NULL,
      address      TEXT NOT NULL, -- of its last connection
      invite_id    TEXT,
      is_pending   INTEGER NOT NULL CHECK (is_pending IN (0, 1)),
      -- The number of the last challenge that the host has confirmed; an older one is a copy's.
      challenge    INTEGER NOT NULL DEFAULT 0,
      joined_at    TEXT NOT NULL,
      last_seen_at TEXT,
      is_connected INTEGER NOT NULL DEFAULT 0 CHECK (is_connected IN (0, 1)), -- for commands
      is_reported_away INTEGER NOT NULL DEFAULT 0 CHECK (is_reported_away IN (0, 1)),
      left_at      TEXT
    ) STRICT;
  `,
};

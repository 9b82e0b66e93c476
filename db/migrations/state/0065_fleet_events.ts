// Events on their way from a member to its hub. The hub stores their ids before it acknowledges them,
// and the member deletes them afterwards.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0065_fleet_events",
  sql: `
    CREATE TABLE fleet_outgoing_events (
      sequence   INTEGER PRIMARY KEY AUTOINCREMENT,
      id         TEXT NOT NULL UNIQUE,
      -- told: people need no message any more; late: was held back here until now
      mode       TEXT NOT NULL CHECK (mode IN ('new', 'told', 'late')),
      event      TEXT NOT NULL, -- JSON
      root_id    TEXT,          -- of the event that caused it
      stack      TEXT,          -- of its container
      created_at TEXT NOT NULL
    ) STRICT;

    CREATE TABLE fleet_taken_events (
      sequence INTEGER PRIMARY KEY AUTOINCREMENT,
      host_id  TEXT NOT NULL REFERENCES fleet_hosts (id) ON DELETE CASCADE,
      id       TEXT NOT NULL,
      is_left  INTEGER NOT NULL CHECK (is_left IN (0, 1)), -- to the member, which tells people
      UNIQUE (host_id, id)
    ) STRICT;

    -- Whether the hub has said that it takes events.
    ALTER TABLE fleet_membership
      ADD COLUMN hub_takes_events INTEGER NOT NULL DEFAULT 0 CHECK (hub_takes_events IN (0, 1));
  `,
};

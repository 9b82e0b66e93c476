// Verdicts of the hosts of this hub about images.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0069_fleet_verdicts",
  sql: `
    CREATE TABLE fleet_verdicts (
      host_id    TEXT NOT NULL REFERENCES fleet_hosts (id) ON DELETE CASCADE,
      id         TEXT NOT NULL, -- that the host has given
      outcome    TEXT NOT NULL CHECK (outcome IN ('success', 'failure')),
      digest     TEXT NOT NULL,
      platform   TEXT NOT NULL,
      image      TEXT NOT NULL,
      container  TEXT NOT NULL,
      reason     TEXT NOT NULL,
      log        TEXT NOT NULL, -- JSON array of lines
      state      TEXT NOT NULL CHECK (state IN ('well', 'unwell', 'gone')),
      seen_at    TEXT NOT NULL, -- when this hub first had it
      well_since TEXT,          -- NULL while it is not well
      proven_at  TEXT,          -- when it had been well for long enough
      PRIMARY KEY (host_id, id)
    ) STRICT;
  `,
};

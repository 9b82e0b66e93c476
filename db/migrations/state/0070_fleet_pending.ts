// Rows of a hub: requests that wait for a host that is away. An entry outlives its end, so that its
// result stays visible.
import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0070_fleet_pending",
  sql: `
    CREATE TABLE fleet_pending (
      id          TEXT PRIMARY KEY,
      host_id     TEXT NOT NULL REFERENCES fleet_hosts (id) ON DELETE CASCADE,
      user_id     TEXT NOT NULL,
      user_name   TEXT NOT NULL,
      api_token   TEXT,          -- JSON: id, name and hash of the API token
      role        TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
      method      TEXT NOT NULL,
      path        TEXT NOT NULL,
      body        TEXT,          -- sealed; NULL after the end
      base        TEXT,          -- JSON: ids of containers by name, as the user saw them
      state       TEXT NOT NULL
        CHECK (state IN ('pending', 'running', 'succeeded', 'failed', 'refused', 'expired')),
      job_id      TEXT,          -- at the host
      error       TEXT,
      created_at  TEXT NOT NULL,
      expires_at  TEXT NOT NULL,
      exported_at TEXT,          -- last time as a file
      ended_at    TEXT
    ) STRICT;
    CREATE INDEX fleet_pending_by_host ON fleet_pending (host_id);
  `,
};

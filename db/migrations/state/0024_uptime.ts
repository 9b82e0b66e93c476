import type { Migration } from "../../migrate.ts";

// The data for SLAs outlives the monitor (outages, gaps without results, and how long the monitor
// existed), hence the copied name and no foreign keys. `status` is the result of the checks; a
// paused monitor keeps it.
export const migration: Migration = {
  name: "0024_uptime",
  sql: `
    CREATE TABLE uptime_monitors (
      id               TEXT PRIMARY KEY,
      name             TEXT NOT NULL,
      type             TEXT NOT NULL CHECK (type IN ('http', 'tcp', 'dns')),
      url              TEXT NOT NULL, -- tcp: host:port, dns: the name to look up
      method           TEXT,
      expected_status  TEXT, -- numbers and ranges, e.g. 200-299,301
      keyword          TEXT,
      record_type      TEXT,
      expected         TEXT,
      timeout_ms       INTEGER NOT NULL CHECK (timeout_ms > 0),
      interval_seconds INTEGER NOT NULL CHECK (interval_seconds > 0),
      retries          INTEGER NOT NULL CHECK (retries >= 0),
      sealed           TEXT, -- headers and body, encrypted; NULL without either
      auto_incident    INTEGER NOT NULL CHECK (auto_incident IN (0, 1)),
      paused           INTEGER NOT NULL CHECK (paused IN (0, 1)),
      status           TEXT NOT NULL CHECK (status IN ('up', 'down', 'pending')),
      created_at       TEXT NOT NULL, -- ISO 8601, UTC
      updated_at       TEXT NOT NULL, -- the monitor is checked immediately after a change
      CHECK ((type = 'http') = (method IS NOT NULL)),
      CHECK ((type = 'http') = (expected_status IS NOT NULL)),
      CHECK ((type = 'dns') = (record_type IS NOT NULL))
    ) STRICT;

    CREATE TABLE outages (
      id           TEXT PRIMARY KEY,
      monitor_id   TEXT NOT NULL,
      monitor_name TEXT NOT NULL,
      cause        TEXT NOT NULL,
      started_at   TEXT NOT NULL,
      resolved_at  TEXT, -- NULL while the monitor is down
      CHECK (resolved_at >= started_at)
    ) STRICT;
    CREATE INDEX outages_by_start ON outages (started_at DESC, id);
    CREATE INDEX outages_by_monitor ON outages (monitor_id, started_at DESC);
    CREATE UNIQUE INDEX outages_open ON outages (monitor_id) WHERE resolved_at IS NULL;

    -- From the first check of a monitor to its deletion.
    CREATE TABLE monitor_lives (
      monitor_id TEXT PRIMARY KEY,
      known_from TEXT NOT NULL,
      deleted_at TEXT
    ) STRICT, WITHOUT ROWID;

    -- Time ranges without results: the monitor was paused, or the service was not running.
    CREATE TABLE monitor_gaps (
      monitor_id TEXT NOT NULL,
      started_at TEXT NOT NULL,
      ended_at   TEXT, -- NULL while the monitor is paused
      reason     TEXT NOT NULL CHECK (reason IN ('paused', 'unknown')),
      PRIMARY KEY (monitor_id, started_at, reason),
      CHECK (ended_at >= started_at),
      CHECK (ended_at IS NOT NULL OR reason = 'paused')
    ) STRICT, WITHOUT ROWID;
    CREATE UNIQUE INDEX monitor_gaps_open ON monitor_gaps (monitor_id) WHERE ended_at IS NULL;
  `,
};

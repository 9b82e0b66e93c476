import type { Migration } from "../../migrate.ts";

// Each check is stored three times: by itself, in the roll-ups of its quarter hour and hour, from
// which statistics are read, and as the latest check of its monitor, which is restored after a
// restart. `n` distinguishes checks of a monitor in the same millisecond.
export const migration: Migration = {
  name: "0004_uptime_checks",
  sql: `
    CREATE TABLE uptime_checks (
      monitor_id       TEXT NOT NULL,
      checked_at       INTEGER NOT NULL, -- Unix milliseconds, like all times here
      n                INTEGER NOT NULL,
      ok               INTEGER NOT NULL CHECK (ok IN (0, 1)),
      response_time_ms INTEGER,
      status_code      INTEGER,
      error            TEXT,
      PRIMARY KEY (monitor_id, checked_at, n)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE uptime_rollups (
      monitor_id       TEXT NOT NULL,
      resolution       INTEGER NOT NULL CHECK (resolution IN (900, 3600)), -- seconds
      ts               INTEGER NOT NULL CHECK (ts % (resolution * 1000) = 0),
      checks           INTEGER NOT NULL CHECK (checks > 0),
      timed            INTEGER NOT NULL CHECK (timed BETWEEN 0 AND checks), -- successful checks
      response_ms_sum  INTEGER NOT NULL, -- of those
      response_ms_max  INTEGER NOT NULL,
      response_ms_hist TEXT NOT NULL, -- JSON: count by bucket
      PRIMARY KEY (monitor_id, resolution, ts)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE uptime_latest (
      monitor_id       TEXT PRIMARY KEY,
      checked_at       INTEGER NOT NULL,
      known_until      INTEGER NOT NULL, -- when the next check was due
      response_time_ms INTEGER,
      failures         INTEGER NOT NULL CHECK (failures >= 0), -- in a row
      failing_since    INTEGER, -- time of the first of them
      CHECK ((failures = 0) = (failing_since IS NULL))
    ) STRICT, WITHOUT ROWID;
  `,
};

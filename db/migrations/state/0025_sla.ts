import type { Migration } from "../../migrate.ts";

// No foreign key to the monitors: a deleted monitor remains in its definitions, and its past
// counts.
// A breach below 1 % of coverage has no known uptime; its column cannot hold NULL, so the coverage
// decides.
export const migration: Migration = {
  name: "0025_sla",
  sql: `
    CREATE TABLE sla_definitions (
      id            TEXT PRIMARY KEY,
      host_id       TEXT NOT NULL DEFAULT 'local',
      name          TEXT NOT NULL,
      description   TEXT NOT NULL,
      target_uptime REAL NOT NULL CHECK (target_uptime > 0 AND target_uptime < 100), -- percent
      period_type   TEXT NOT NULL CHECK (period_type IN ('monthly', 'weekly')),
      created_at    TEXT NOT NULL, -- ISO 8601, UTC
      updated_at    TEXT NOT NULL
    ) STRICT;

    CREATE TABLE sla_monitors (
      sla_id     TEXT NOT NULL REFERENCES sla_definitions (id) ON DELETE CASCADE,
      monitor_id TEXT NOT NULL,
      place      INTEGER NOT NULL, -- in the order given
      PRIMARY KEY (sla_id, monitor_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX sla_monitors_by_monitor ON sla_monitors (monitor_id);

    CREATE TABLE sla_periods (
      id                     TEXT PRIMARY KEY,
      sla_id                 TEXT NOT NULL REFERENCES sla_definitions (id) ON DELETE CASCADE,
      period_type            TEXT NOT NULL CHECK (period_type IN ('monthly', 'weekly')),
      start_date             TEXT NOT NULL, -- YYYY-MM-DD
      end_date               TEXT NOT NULL, -- the last day, inclusive
      target_uptime          REAL NOT NULL CHECK (target_uptime > 0 AND target_uptime < 100),
      actual_uptime          REAL NOT NULL CHECK (actual_uptime BETWEEN 0 AND 100), -- percent
      total_downtime_seconds INTEGER NOT NULL CHECK (total_downtime_seconds >= 0),
      coverage_percent       REAL NOT NULL CHECK (coverage_percent BETWEEN 0 AND 100),
      is_breached            INTEGER NOT NULL CHECK (is_breached IN (0, 1)),
      status                 TEXT NOT NULL CHECK (status IN ('current', 'closed')),
      calculated_at          TEXT NOT NULL, -- ISO 8601, UTC
      CHECK (start_date < end_date),
      UNIQUE (sla_id, period_type, start_date)
    ) STRICT;
    CREATE INDEX sla_periods_current ON sla_periods (sla_id) WHERE status = 'current';

    CREATE TABLE sla_breaches (
      id                     TEXT PRIMARY KEY,
      sla_id                 TEXT NOT NULL REFERENCES sla_definitions (id) ON DELETE CASCADE,
      -- A period has at most one breach.
      period_id              TEXT NOT NULL UNIQUE REFERENCES sla_periods (id) ON DELETE CASCADE,
      breached_at            TEXT NOT NULL, -- ISO 8601, UTC
      actual_uptime          REAL NOT NULL,
      target_uptime          REAL NOT NULL,
      total_downtime_seconds INTEGER NOT NULL,
      coverage_percent       REAL NOT NULL DEFAULT 100
    ) STRICT;
    CREATE INDEX sla_breaches_by_time ON sla_breaches (breached_at DESC, id);
    CREATE INDEX sla_breaches_by_sla ON sla_breaches (sla_id, breached_at DESC, id);
  `,
};

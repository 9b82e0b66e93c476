import type { Migration } from "../../migrate.ts";

// A rule may watch many containers, so its progress is in a table of its own: one row for each
// container, or one without a container for the host. It is stored, so that a restart neither loses
// nor repeats an alert. The metrics are not listed in a CHECK, which every new one would require to
// rebuild the table for. An event outlives its rule, hence the copied name and condition and no
// foreign key.
export const migration: Migration = {
  name: "0005_alerts",
  sql: `
    CREATE TABLE alert_rules (
      id                       TEXT PRIMARY KEY,
      host_id                  TEXT NOT NULL DEFAULT 'local', -- the monitored host
      name                     TEXT NOT NULL,
      metric                   TEXT NOT NULL,
      operator                 TEXT NOT NULL CHECK (operator IN ('>', '<', '>=', '<=', '==')),
      threshold                REAL NOT NULL,
      duration_seconds         INTEGER NOT NULL CHECK (duration_seconds BETWEEN 0 AND 86400),
      severity                 TEXT NOT NULL CHECK (severity IN ('info', 'warning', 'critical')),
      scope                    TEXT NOT NULL CHECK (json_valid(scope)), -- what it watches
      pattern                  TEXT, -- of log lines, RE2
      path                     TEXT, -- of a filesystem
      window_seconds           INTEGER, -- in which occurrences are counted
      for_missing_data_seconds INTEGER, -- NULL: missing data is not reported
      auto_incident            INTEGER NOT NULL CHECK (auto_incident IN (0, 1)),
      enabled                  INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at               TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT;

    CREATE TABLE alert_progress (
      rule_id       TEXT NOT NULL,
      container     TEXT NOT NULL DEFAULT '', -- its name; empty for the rule as a whole
      state         TEXT NOT NULL CHECK (state IN ('ok', 'pending', 'firing', 'no_data')),
      pending_since TEXT CHECK ((pending_since IS NOT NULL) = (state = 'pending')),
      seen_at       TEXT, -- when the condition was last seen to hold while pending
      last_fired_at TEXT,
      alert_id      TEXT, -- the unresolved event
      PRIMARY KEY (rule_id, container)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE alert_events (
      id              TEXT PRIMARY KEY,
      host_id         TEXT NOT NULL DEFAULT 'local',
      rule_id         TEXT NOT NULL,
      rule_name       TEXT NOT NULL,
      metric          TEXT NOT NULL,
      operator        TEXT NOT NULL,
      threshold       REAL NOT NULL,
      value           REAL NOT NULL, -- when the rule fired
      message         TEXT NOT NULL,
      fired_at        TEXT NOT NULL,
      resolved_at     TEXT,
      severity        TEXT NOT NULL DEFAULT 'warning'
        CHECK (severity IN ('info', 'warning', 'critical')),
      container       TEXT, -- NULL for the host
      stack           TEXT,
      acknowledged_at TEXT,
      acknowledged_by TEXT,
      comment         TEXT -- of the acknowledgement
    ) STRICT;
    CREATE INDEX alert_events_by_time ON alert_events (fired_at DESC, id);
    -- A rule has at most one unresolved event for each container.
    CREATE UNIQUE INDEX alert_events_open ON alert_events (rule_id, coalesce(container, ''))
      WHERE resolved_at IS NULL;
  `,
};

import type { Migration } from "../../migrate.ts";

// A rule may watch many containers, so its progress is in a table of its own: one row for each
// container, or one without a container for the host. The metrics are not listed in a CHECK, which
// every new one would require to rebuild the table for.
export const migration: Migration = {
  name: "0090_ce_alert_scopes",
  sql: `
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
    INSERT INTO alert_progress (rule_id, state, pending_since, seen_at, last_fired_at, alert_id)
      SELECT id, state, pending_since, seen_at, last_fired_at,
             (SELECT e.id FROM alert_events e WHERE e.rule_id = r.id AND e.resolved_at IS NULL)
      FROM alert_rules r WHERE state <> 'ok' OR last_fired_at IS NOT NULL;

    CREATE TABLE scoped_alert_rules (
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
    INSERT INTO scoped_alert_rules
      SELECT id, host_id, name, metric, operator, threshold, duration_seconds, 'warning',
             '{"target":{"kind":"host"}}', NULL, NULL, NULL, NULL,
             auto_incident, enabled, created_at
      FROM alert_rules;
    DROP TABLE alert_rules;
    ALTER TABLE scoped_alert_rules RENAME TO alert_rules;

    ALTER TABLE alert_events ADD COLUMN severity TEXT NOT NULL DEFAULT 'warning'
      CHECK (severity IN ('info', 'warning', 'critical'));
    ALTER TABLE alert_events ADD COLUMN container TEXT; -- NULL for the host
    ALTER TABLE alert_events ADD COLUMN stack TEXT;
    ALTER TABLE alert_events ADD COLUMN acknowledged_at TEXT;
    ALTER TABLE alert_events ADD COLUMN acknowledged_by TEXT;
    ALTER TABLE alert_events ADD COLUMN comment TEXT; -- of the acknowledgement
    -- A rule has at most one unresolved event for each container.
    DROP INDEX alert_events_open;
    CREATE UNIQUE INDEX alert_events_open ON alert_events (rule_id, coalesce(container, ''))
      WHERE resolved_at IS NULL;
  `,
};

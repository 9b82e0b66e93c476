import type { Migration } from "../../migrate.ts";

// A rule stores its progress, so that a restart neither loses nor repeats an alert. An event
// outlives its rule, hence the copied name and condition and no foreign key.
export const migration: Migration = {
  name: "0003_ce_alerts",
  sql: `
    CREATE TABLE alert_rules (
      id               TEXT PRIMARY KEY,
      host_id          TEXT NOT NULL DEFAULT 'local', -- the monitored host
      name             TEXT NOT NULL,
      metric           TEXT NOT NULL CHECK (metric IN (
        'cpu_percent', 'memory_percent', 'disk_percent', 'load_1', 'container_stopped'
      )),
      operator         TEXT NOT NULL CHECK (operator IN ('>', '<', '>=', '<=', '==')),
      threshold        REAL NOT NULL,
      duration_seconds INTEGER NOT NULL CHECK (duration_seconds BETWEEN 0 AND 86400),
      auto_incident    INTEGER NOT NULL CHECK (auto_incident IN (0, 1)),
      enabled          INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at       TEXT NOT NULL, -- ISO 8601, UTC
      state            TEXT NOT NULL CHECK (state IN ('ok', 'pending', 'firing')),
      pending_since    TEXT CHECK ((pending_since IS NOT NULL) = (state = 'pending')),
      seen_at          TEXT, -- when the condition was last seen to hold while pending
      last_fired_at    TEXT
    ) STRICT;

    CREATE TABLE alert_events (
      id          TEXT PRIMARY KEY,
      host_id     TEXT NOT NULL DEFAULT 'local',
      rule_id     TEXT NOT NULL,
      rule_name   TEXT NOT NULL,
      metric      TEXT NOT NULL,
      operator    TEXT NOT NULL,
      threshold   REAL NOT NULL,
      value       REAL NOT NULL, -- when the rule fired
      message     TEXT NOT NULL,
      fired_at    TEXT NOT NULL,
      resolved_at TEXT
    ) STRICT;
    CREATE INDEX alert_events_by_time ON alert_events (fired_at DESC, id);
    -- A rule has at most one unresolved event.
    CREATE UNIQUE INDEX alert_events_open ON alert_events (rule_id) WHERE resolved_at IS NULL;
  `,
};

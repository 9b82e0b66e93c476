import type { Migration } from "../../migrate.ts";

// A rule stores its progress and its recent firings, so that it neither acts twice nor forgets its
// rate limit after a restart. A run outlives its rule, hence the copied name and no foreign key;
// one without an end is in progress or was interrupted.
export const migration: Migration = {
  name: "0026_remediation",
  sql: `
    CREATE TABLE remediation_rules (
      id                  TEXT PRIMARY KEY,
      host_id             TEXT NOT NULL DEFAULT 'local',
      name                TEXT NOT NULL,
      condition_metric    TEXT NOT NULL,
      condition_operator  TEXT NOT NULL CHECK (condition_operator IN ('>', '<', '>=', '<=', '==')),
      condition_threshold REAL NOT NULL,
      condition_duration  INTEGER NOT NULL CHECK (condition_duration BETWEEN 0 AND 86400),
      action_type         TEXT NOT NULL CHECK (action_type IN ('restart', 'start', 'stop')),
      action_target       TEXT NOT NULL,
      action_config       TEXT NOT NULL CHECK (json_valid(action_config)),
      cooldown_seconds    INTEGER NOT NULL CHECK (cooldown_seconds BETWEEN 0 AND 86400),
      enabled             INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at          TEXT NOT NULL, -- ISO 8601, UTC
      target_name         TEXT, -- finds the container after it was recreated
      pending_since       TEXT, -- since when the condition has held
      seen_at             TEXT, -- when the condition was last seen to hold
      last_triggered_at   TEXT,
      trigger_count       INTEGER NOT NULL,
      firings             TEXT NOT NULL CHECK (json_valid(firings)), -- times within the last hour
      CHECK ((pending_since IS NULL) = (seen_at IS NULL))
    ) STRICT;

    CREATE TABLE remediation_runs (
      id            TEXT PRIMARY KEY,
      host_id       TEXT NOT NULL DEFAULT 'local',
      rule_id       TEXT NOT NULL,
      rule_name     TEXT NOT NULL,
      metric_value  REAL, -- NULL: the rule was disabled instead of firing
      action_type   TEXT NOT NULL CHECK (action_type IN ('restart', 'start', 'stop')),
      action_target TEXT NOT NULL,
      status        TEXT CHECK (status IN ('success', 'failure', 'skipped')),
      error         TEXT,
      started_at    TEXT NOT NULL,
      finished_at   TEXT,
      CHECK ((finished_at IS NULL) = (status IS NULL))
    ) STRICT;
    CREATE INDEX remediation_runs_by_start ON remediation_runs (started_at DESC);
    CREATE INDEX remediation_runs_by_rule ON remediation_runs (rule_id, started_at DESC);
    CREATE INDEX remediation_runs_unfinished ON remediation_runs (id) WHERE finished_at IS NULL;
  `,
};

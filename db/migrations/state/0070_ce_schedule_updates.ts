import type { Migration } from "../../migrate.ts";

// Schedules can update containers. SQLite cannot change a CHECK, so that the tables are copied.
export const migration: Migration = {
  name: "0070_ce_schedule_updates",
  sql: `
    CREATE TABLE schedules_new (
      id              TEXT PRIMARY KEY,
      host_id         TEXT NOT NULL DEFAULT 'local', -- the host of the container
      name            TEXT NOT NULL,
      container_id    TEXT NOT NULL,
      container_name  TEXT NOT NULL, -- finds the container after it was recreated
      action          TEXT NOT NULL CHECK (action IN ('start', 'stop', 'restart', 'update')),
      cron_expression TEXT NOT NULL,
      timezone        TEXT NOT NULL, -- IANA
      enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at      TEXT NOT NULL, -- ISO 8601, UTC
      last_run_at     TEXT
    ) STRICT;
    INSERT INTO schedules_new
      SELECT id, host_id, name, container_id, container_name, action, cron_expression, timezone,
             enabled, created_at, last_run_at
        FROM schedules;
    DROP TABLE schedules;
    ALTER TABLE schedules_new RENAME TO schedules;

    CREATE TABLE schedule_runs_new (
      id             TEXT PRIMARY KEY,
      host_id        TEXT NOT NULL DEFAULT 'local',
      schedule_id    TEXT NOT NULL,
      schedule_name  TEXT NOT NULL,
      container_id   TEXT NOT NULL,
      container_name TEXT NOT NULL,
      action         TEXT NOT NULL CHECK (action IN ('start', 'stop', 'restart', 'update')),
      due_at         TEXT NOT NULL,
      started_at     TEXT NOT NULL,
      finished_at    TEXT,
      status         TEXT CHECK (status IN ('success', 'failure', 'skipped')),
      error          TEXT,
      CHECK ((finished_at IS NULL) = (status IS NULL)),
      -- No due time runs twice, even after a crash or a clock change.
      UNIQUE (schedule_id, due_at)
    ) STRICT;
    INSERT INTO schedule_runs_new
      SELECT id, host_id, schedule_id, schedule_name, container_id, container_name, action, due_at,
             started_at, finished_at, status, error
        FROM schedule_runs;
    DROP TABLE schedule_runs;
    ALTER TABLE schedule_runs_new RENAME TO schedule_runs;
    CREATE INDEX schedule_runs_by_start ON schedule_runs (started_at DESC, id);
    CREATE INDEX schedule_runs_unfinished ON schedule_runs (id) WHERE finished_at IS NULL;
  `,
};

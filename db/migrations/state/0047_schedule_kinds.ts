import type { Migration } from "../../migrate.ts";

// The tables are copied, because a column cannot lose its NOT NULL: only schedules of the kind
// `container` have a container.
export const migration: Migration = {
  name: "0047_schedule_kinds",
  sql: `
    CREATE TABLE new_schedules (
      id              TEXT PRIMARY KEY,
      host_id         TEXT NOT NULL DEFAULT 'local', -- the host of the container
      name            TEXT NOT NULL,
      kind            TEXT NOT NULL,
      action          TEXT NOT NULL,
      container_id    TEXT,
      container_name  TEXT, -- finds the container after it was recreated
      stack           TEXT,
      options         TEXT NOT NULL CHECK (json_valid(options)),
      cron_expression TEXT NOT NULL,
      timezone        TEXT NOT NULL, -- IANA
      enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at      TEXT NOT NULL, -- ISO 8601, UTC
      active_since    TEXT NOT NULL, -- when it was enabled or last changed
      last_run_at     TEXT,
      overdue_since   TEXT
    ) STRICT;
    INSERT INTO new_schedules (
      id, host_id, name, kind, action, container_id, container_name, options, cron_expression,
      timezone, enabled, created_at, active_since, last_run_at
    )
      SELECT id, host_id, name, 'container', action, container_id, container_name, '{}',
        cron_expression, timezone, enabled, created_at, created_at, last_run_at
      FROM schedules;
    DROP TABLE schedules;
    ALTER TABLE new_schedules RENAME TO schedules;

    CREATE TABLE new_schedule_runs (
      id             TEXT PRIMARY KEY,
      host_id        TEXT NOT NULL DEFAULT 'local',
      schedule_id    TEXT NOT NULL,
      schedule_name  TEXT NOT NULL,
      kind           TEXT NOT NULL,
      action         TEXT NOT NULL,
      container_id   TEXT,
      container_name TEXT,
      stack          TEXT,
      subject        TEXT NOT NULL, -- what it acted on, in words
      job_id         TEXT,
      due_at         TEXT NOT NULL,
      started_at     TEXT NOT NULL,
      finished_at    TEXT,
      status         TEXT CHECK (status IN ('success', 'failure', 'skipped')),
      error          TEXT,
      CHECK ((finished_at IS NULL) = (status IS NULL)),
      -- No due time runs twice, even after a crash or a clock change.
      UNIQUE (schedule_id, due_at)
    ) STRICT;
    INSERT INTO new_schedule_runs (
      id, host_id, schedule_id, schedule_name, kind, action, container_id, container_name, subject,
      due_at, started_at, finished_at, status, error
    )
      SELECT id, host_id, schedule_id, schedule_name, 'container', action, container_id,
        container_name, container_name, due_at, started_at, finished_at, status, error
      FROM schedule_runs;
    DROP TABLE schedule_runs;
    ALTER TABLE new_schedule_runs RENAME TO schedule_runs;
    CREATE INDEX schedule_runs_by_start ON schedule_runs (started_at DESC, id);
    CREATE INDEX schedule_runs_unfinished ON schedule_runs (id) WHERE finished_at IS NULL;
  `,
};

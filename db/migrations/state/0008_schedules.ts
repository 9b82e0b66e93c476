import type { Migration } from "../../migrate.ts";

// A run outlives its schedule: history stays readable after the schedule is deleted, hence the
// copied names and no foreign key.
export const migration: Migration = {
  name: "0008_schedules",
  sql: `
    CREATE TABLE schedules (
      id              TEXT PRIMARY KEY,
      host_id         TEXT NOT NULL DEFAULT 'local', -- the host of the container
      name            TEXT NOT NULL,
      container_id    TEXT NOT NULL,
      container_name  TEXT NOT NULL, -- finds the container after it was recreated
      action          TEXT NOT NULL DEFAULT 'start',
      cron_expression TEXT NOT NULL,
      timezone        TEXT NOT NULL, -- IANA
      enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
      created_at      TEXT NOT NULL, -- ISO 8601, UTC
      last_run_at     TEXT
    ) STRICT;

    CREATE TABLE schedule_runs (
      id             TEXT PRIMARY KEY,
      host_id        TEXT NOT NULL DEFAULT 'local',
      schedule_id    TEXT NOT NULL,
      schedule_name  TEXT NOT NULL,
      container_id   TEXT NOT NULL,
      container_name TEXT NOT NULL,
      action         TEXT NOT NULL DEFAULT 'start',
      due_at         TEXT NOT NULL,
      started_at     TEXT NOT NULL,
      finished_at    TEXT,
      status         TEXT CHECK (status IN ('success', 'failure', 'skipped')),
      error          TEXT,
      CHECK ((finished_at IS NULL) = (status IS NULL)),
      -- No due time runs twice, even after a crash or a clock change.
      UNIQUE (schedule_id, due_at)
    ) STRICT;
    CREATE INDEX schedule_runs_by_start ON schedule_runs (started_at DESC, id);
    CREATE INDEX schedule_runs_unfinished ON schedule_runs (id) WHERE finished_at IS NULL;
  `,
};

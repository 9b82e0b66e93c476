import type { Migration } from "../../migrate.ts";

// SQLite cannot change a CHECK, so the table is copied to add the status `needs_attention`.
export const migration: Migration = {
  name: "0080_ce_jobs_needs_attention",
  sql: `
    CREATE TABLE new_jobs (
      id          TEXT PRIMARY KEY,
      kind        TEXT NOT NULL,
      target_type TEXT NOT NULL CHECK (target_type IN ('image', 'container', 'stack', 'host')),
      target      TEXT NOT NULL,
      status      TEXT NOT NULL CHECK (
        status IN (
          'queued', 'running', 'succeeded', 'failed', 'rolled_back', 'needs_attention', 'cancelled'
        )
      ),
      progress    TEXT, -- JSON
      steps       TEXT NOT NULL, -- JSON, with the result of each finished step
      input       TEXT NOT NULL, -- JSON
      error       TEXT,
      result      TEXT, -- JSON
      created_by  TEXT NOT NULL,
      created_at  TEXT NOT NULL,
      started_at  TEXT,
      ended_at    TEXT, -- NULL while queued or running
      stack       TEXT -- of a job on a container, when the job was created
    ) STRICT;
    INSERT INTO new_jobs
      SELECT id, kind, target_type, target, status, progress, steps, input, error, result,
        created_by, created_at, started_at, ended_at, stack
      FROM jobs;
    DROP TABLE jobs;
    ALTER TABLE new_jobs RENAME TO jobs;

    CREATE INDEX jobs_by_time ON jobs (created_at, id);
    CREATE UNIQUE INDEX jobs_unfinished ON jobs (target_type, target) WHERE ended_at IS NULL;
  `,
};

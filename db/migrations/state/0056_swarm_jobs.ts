import type { Migration } from "../../migrate.ts";

// The table is copied, because a column cannot get another CHECK: jobs work on services, secrets and
// configs of a swarm, too.
export const migration: Migration = {
  name: "0056_swarm_jobs",
  sql: `
    CREATE TABLE new_jobs (
      id          TEXT PRIMARY KEY,
      kind        TEXT NOT NULL,
      target_type TEXT NOT NULL CHECK (
        target_type IN ('image', 'container', 'stack', 'host', 'service', 'secret', 'config')
      ),
      target      TEXT NOT NULL,
      stack       TEXT, -- of a job on a container or service, when the job was created
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
      token_id    TEXT -- NULL for a login or the service itself
    ) STRICT;
    INSERT INTO new_jobs (
      id, kind, target_type, target, stack, status, progress, steps, input, error, result,
      created_by, created_at, started_at, ended_at, token_id
    )
      SELECT id, kind, target_type, target, stack, status, progress, steps, input, error, result,
        created_by, created_at, started_at, ended_at, token_id
      FROM jobs;
    DROP TABLE jobs;
    ALTER TABLE new_jobs RENAME TO jobs;
    CREATE INDEX jobs_by_time ON jobs (created_at, id);
    CREATE UNIQUE INDEX jobs_unfinished ON jobs (target_type, target) WHERE ended_at IS NULL;
  `,
};

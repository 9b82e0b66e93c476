import type { Migration } from "../../migrate.ts";

// The second index refuses a second unfinished job on the same target, whatever code inserts it.
export const migration: Migration = {
  name: "0017_jobs",
  sql: `
    CREATE TABLE jobs (
      id          TEXT PRIMARY KEY,
      kind        TEXT NOT NULL,
      target_type TEXT NOT NULL CHECK (target_type IN ('image', 'container', 'stack', 'host')),
      target      TEXT NOT NULL,
      stack       TEXT, -- of a job on a container, when the job was created
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
      ended_at    TEXT -- NULL while queued or running
    ) STRICT;

    CREATE INDEX jobs_by_time ON jobs (created_at, id);
    CREATE UNIQUE INDEX jobs_unfinished ON jobs (target_type, target) WHERE ended_at IS NULL;
  `,
};

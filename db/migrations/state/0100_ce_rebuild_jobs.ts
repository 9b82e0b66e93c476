import type { Migration } from "../../migrate.ts";

// Rebuilds are jobs and record their own steps. A rebuild of an earlier version that may not have
// finished cannot be continued, because that version did not record enough; a job tells the operator
// which containers to check.
export const migration: Migration = {
  name: "0100_ce_rebuild_jobs",
  sql: `
    INSERT INTO jobs (
      id, kind, target_type, target, status, steps, input, error, created_by, created_at, started_at,
      ended_at
    )
    SELECT
      lower(
        hex(randomblob(4)) || '-' || hex(randomblob(2)) || '-' || hex(randomblob(2)) || '-' ||
          hex(randomblob(2)) || '-' || hex(randomblob(6))
      ),
      'container.rebuild', 'container', name, 'needs_attention', '[]', '{}',
      'The service was upgraded during the rebuild and does not continue it. Of the containers ' ||
        substr(old_id, 1, 12) || coalesce(' and ' || substr(new_id, 1, 12), '') ||
        ' keep one, with the name ' || name || iif(ran, ' and running', ''),
      'key', at, at, at
    FROM rebuilds, (SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS at);

    DROP TABLE rebuilds;
  `,
};

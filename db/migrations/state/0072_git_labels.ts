import type { Migration } from "../../migrate.ts";

// Labels decide which mappings of a repository apply to this host; a hub gives them to its members.
export const migration: Migration = {
  name: "0072_git_labels",
  sql: `
    ALTER TABLE fleet_membership ADD COLUMN labels TEXT NOT NULL DEFAULT '{}'; -- JSON
    -- JSON; labels of this host when the mapping was applied last.
    ALTER TABLE git_repositories ADD COLUMN labels TEXT NOT NULL DEFAULT '{}';
    -- When a failed fetch is tried again; NULL after a success.
    ALTER TABLE git_repositories ADD COLUMN retry_at TEXT;
    ALTER TABLE git_stacks ADD COLUMN mapped_env TEXT NOT NULL DEFAULT '{}'; -- JSON
    UPDATE git_repositories SET mapping = (
      SELECT json_group_array(json_set(value, '$.hosts', json('{}'), '$.env', json('{}')))
        FROM json_each(mapping));
  `,
};

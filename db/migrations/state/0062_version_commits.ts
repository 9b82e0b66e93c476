import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0062_version_commits",
  sql: `
    -- JSON; the commit that a version was made of.
    ALTER TABLE stack_versions ADD COLUMN git_commit TEXT;
  `,
};

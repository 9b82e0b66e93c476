import type { Migration } from "../../migrate.ts";

// A login for which somebody else vouches ends when they say so. Its end goes from each refresh
// token to the next, or it could be renewed beyond it.
export const migration: Migration = {
  name: "0010_ce_login_ends",
  sql: `
    ALTER TABLE refresh_tokens ADD COLUMN ends_at TEXT; -- NULL: can be renewed without end
  `,
};

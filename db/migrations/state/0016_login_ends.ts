import type { Migration } from "../../migrate.ts";

// A login through an identity provider ends when the provider says so. Each refresh token passes
// the end on to the next, so that no renewal exceeds it.
export const migration: Migration = {
  name: "0016_login_ends",
  sql: `
    ALTER TABLE refresh_tokens ADD COLUMN ends_at TEXT; -- NULL: no limit
  `,
};

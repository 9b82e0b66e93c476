import type { Migration } from "../../migrate.ts";

// A job that is resumed counts for the same API token as before.
export const migration: Migration = {
  name: "0037_job_tokens",
  sql: `
    ALTER TABLE jobs ADD COLUMN token_id TEXT; -- NULL for a login or the service itself
  `,
};

import type { Migration } from "../../migrate.ts";

// A client that refreshes twice at the same time sends the same token twice. For some seconds it is
// accepted again, only from the address that used it first.
export const migration: Migration = {
  name: "0054_ce_refresh_repeats",
  sql: `
    ALTER TABLE refresh_tokens ADD COLUMN spent_from TEXT; -- client address; NULL: not accepted again
  `,
};

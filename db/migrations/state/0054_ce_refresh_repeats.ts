import type { Migration } from "../../migrate.ts";

// A client may send two refreshes with the same token at the same time. For some seconds the token
// is accepted again, but only from the address that used it first.
export const migration: Migration = {
  name: "0054_ce_refresh_repeats",
  sql: `
    ALTER TABLE refresh_tokens ADD COLUMN spent_from TEXT; -- client address; NULL: not reusable
  `,
};

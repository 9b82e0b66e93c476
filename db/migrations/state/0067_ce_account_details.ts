import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0067_ce_account_details",
  sql: `
    ALTER TABLE users ADD COLUMN name TEXT;
    -- 1: the user entered the address, and no administrator or identity provider confirmed it.
    ALTER TABLE users ADD COLUMN is_email_unconfirmed INTEGER NOT NULL DEFAULT 0;
  `,
};

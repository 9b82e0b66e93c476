import type { Migration } from "../../migrate.ts";

// A role stays with its user: the provider may give it again, and a password is still accepted.
export const migration: Migration = {
  name: "0042_refused_users",
  sql: `
    -- Set while the user's identity provider gives no role, so that API tokens have none either.
    ALTER TABLE users
      ADD COLUMN is_refused INTEGER NOT NULL DEFAULT 0 CHECK (is_refused IN (0, 1));
  `,
};

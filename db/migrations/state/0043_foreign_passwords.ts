import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0043_foreign_passwords",
  sql: `
    -- Set once another user without the role admin has chosen a password of this user.
    ALTER TABLE users ADD COLUMN had_foreign_password INTEGER NOT NULL DEFAULT 0
      CHECK (had_foreign_password IN (0, 1));
  `,
};

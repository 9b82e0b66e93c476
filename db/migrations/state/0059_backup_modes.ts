import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0059_backup_modes",
  sql: `
    -- Stacks without a row have no setting.
    CREATE TABLE backup_modes (
      stack TEXT PRIMARY KEY,
      mode  TEXT NOT NULL CHECK (mode IN ('stop', 'pause', 'hooks', 'live'))
    ) STRICT;
  `,
};

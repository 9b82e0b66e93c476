import type { Migration } from "../../migrate.ts";

export const migration: Migration = {
  name: "0050_kept_data",
  sql: `
    -- JSON; the snapshot of the volumes from before the update.
    ALTER TABLE previous_images ADD COLUMN data TEXT NOT NULL DEFAULT 'null';
  `,
};

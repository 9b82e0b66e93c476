import type { Migration } from "../../migrate.ts";

const COLUMNS = ["network_rx", "network_tx", "block_read", "block_write"]
  .flatMap((column) => [`${column}_min`, column, `${column}_max`]);

// Bytes per second. NULL: measured by an older version, or for the first time in a run.
export const migration: Migration = {
  name: "0005_ce_container_rates",
  sql: COLUMNS.map((column) => `ALTER TABLE container_samples ADD COLUMN ${column} INTEGER;`)
    .join("\n"),
};

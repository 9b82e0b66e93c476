import type { Migration } from "../../migrate.ts";

// The engine does not tell who stopped a container. What this service took down on purpose must
// not look like a failure, also after a restart of the service.
export const migration: Migration = {
  name: "0009_ce_service_stops",
  sql: `
    CREATE TABLE service_stops (
      container_id TEXT PRIMARY KEY,
      at           TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT, WITHOUT ROWID;
  `,
};

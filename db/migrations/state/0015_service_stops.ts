import type { Migration } from "../../migrate.ts";

// The engine does not report who stopped a container. A container that this service stopped must
// not look like a failure, even after a restart of the service.
export const migration: Migration = {
  name: "0015_service_stops",
  sql: `
    CREATE TABLE service_stops (
      container_id TEXT PRIMARY KEY,
      at           TEXT NOT NULL -- ISO 8601, UTC
    ) STRICT, WITHOUT ROWID;
  `,
};

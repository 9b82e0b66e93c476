/**
 * The `service_stops` table: containers that this service stopped and that have not run since.
 *
 * @module
 */

import type { Database } from "./database.ts";

/** When this service stopped the container; ISO 8601, UTC. `undefined` when it did not. */
export function selectServiceStop(db: Database, containerId: string): string | undefined {
  return db.get<{ at: string }>(
    "SELECT at FROM service_stops WHERE container_id = :containerId",
    { containerId },
  )?.at;
}

export function upsertServiceStop(db: Database, containerId: string, at: string): void {
  db.run(
    `INSERT INTO service_stops (container_id, at) VALUES (:containerId, :at)
     ON CONFLICT (container_id) DO UPDATE SET at = excluded.at`,
    { containerId, at },
  );
}

export function deleteServiceStop(db: Database, containerId: string): void {
  db.run("DELETE FROM service_stops WHERE container_id = :containerId", { containerId });
}

/** Deletes the stops of containers that no longer exist. */
export function deleteServiceStopsExcept(db: Database, containerIds: readonly string[]): void {
  db.run(
    `DELETE FROM service_stops WHERE container_id NOT IN (SELECT value FROM json_each(:ids))`,
    { ids: JSON.stringify(containerIds) },
  );
}

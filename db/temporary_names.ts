/**
 * The `temporary_names` table: containers to which a replacement gave a temporary name.
 *
 * @module
 */

import type { Database } from "./database.ts";

/** A container with its original name. */
interface TemporaryName {
  containerId: string;
  name: string;
}

export function selectTemporaryNames(db: Database): TemporaryName[] {
  return db.all<TemporaryName>("SELECT container_id AS containerId, name FROM temporary_names");
}

export function upsertTemporaryName(db: Database, { containerId, name }: TemporaryName): void {
  db.run(
    `INSERT INTO temporary_names (container_id, name) VALUES (:containerId, :name)
     ON CONFLICT (container_id) DO UPDATE SET name = excluded.name`,
    { containerId, name },
  );
}

export function deleteTemporaryName(db: Database, containerId: string): void {
  db.run("DELETE FROM temporary_names WHERE container_id = :containerId", { containerId });
}

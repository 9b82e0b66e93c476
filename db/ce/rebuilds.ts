/**
 * The `rebuilds` table: container replacements that have started and are not known to have
 * finished.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";

/** A replacement of one container. */
export interface Rebuild {
  oldId: string;
  /** The name that both containers share, one after the other. */
  name: string;
  /** Whether the old container was running, so that the new one must be started. */
  ran: boolean;
  /** `null` until the new container is created. */
  newId: string | null;
}

const rebuilds = table<Rebuild>(
  "rebuilds",
  { oldId: "value", name: "value", ran: "boolean", newId: "value" },
  { key: "oldId" },
);

export function selectRebuilds(db: Database): Rebuild[] {
  return rebuilds.select(db, "ORDER BY old_id");
}

export function selectRebuild(db: Database, oldId: string): Rebuild | undefined {
  return rebuilds.find(db, oldId);
}

export function upsertRebuild(db: Database, rebuild: Rebuild): void {
  rebuilds.replace(db, rebuild);
}

export function deleteRebuild(db: Database, oldId: string): void {
  rebuilds.delete(db, oldId);
}

/**
 * The `rebuilds` table: containers whose replacement has begun and is not known to have ended.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** A replacement of one container. */
export interface Rebuild {
  oldId: string;
  /** The name that both containers share, one after the other. */
  name: string;
  /** Whether the old container ran, so that the new one is to run. */
  ran: boolean;
  /** `null` until the new container is created. */
  newId: string | null;
}

type Row = Omit<Rebuild, "ran"> & { ran: number };

const COLUMNS = "old_id AS oldId, name, ran, new_id AS newId";

const fromRow = (row: Row): Rebuild => ({ ...row, ran: row.ran === 1 });

export function selectRebuilds(db: Database): Rebuild[] {
  return db.all<Row>(`SELECT ${COLUMNS} FROM rebuilds ORDER BY old_id`).map(fromRow);
}

export function selectRebuild(db: Database, oldId: string): Rebuild | undefined {
  const row = db.get<Row>(`SELECT ${COLUMNS} FROM rebuilds WHERE old_id = :oldId`, { oldId });
  return row && fromRow(row);
}

/** Records a replacement; one that is recorded already is replaced. */
export function upsertRebuild(db: Database, { oldId, name, ran, newId }: Rebuild): void {
  db.run(
    `INSERT OR REPLACE INTO rebuilds (old_id, name, ran, new_id)
     VALUES (:oldId, :name, :ran, :newId)`,
    { oldId, name, ran: ran ? 1 : 0, newId },
  );
}

export function deleteRebuild(db: Database, oldId: string): void {
  db.run("DELETE FROM rebuilds WHERE old_id = :oldId", { oldId });
}

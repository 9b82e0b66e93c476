/** The `backup_drills` table: results of restores that were tried out. @module */

import { boolean, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const drills = table("backup_drills", {
  /** Of its job. */
  id: text(),
  stack: text(),
  /** Of restic: 64 hexadecimal digits. */
  snapshot: text(),
  /** Name of the target that had it. */
  target: text(),
  /** Whether its containers worked. */
  ok: boolean(),
  /** E.g. `shop-db-1 is healthy`, or what failed. */
  reason: text(),
  durationMs: number(),
  /** End of the drill; ISO 8601, UTC. */
  at: text(),
}, { order: "at DESC, id" });

export type StoredDrill = Row<typeof drills>;

/** Drills of a stack that are kept. */
const KEPT = 20;

/** Stores a drill in place of the oldest ones of its stack. */
export function insertBackupDrill(db: Database, drill: StoredDrill): void {
  db.transaction(() => {
    drills.replace(db, drill);
    db.run(
      `DELETE FROM backup_drills WHERE id IN (
         SELECT id FROM backup_drills WHERE stack = :stack
         ORDER BY at DESC, id LIMIT -1 OFFSET ${KEPT}
       )`,
      { stack: drill.stack },
    );
  });
}

/** Newest first. @param stack Default: all. */
export const selectBackupDrills = (db: Database, stack?: string): StoredDrill[] =>
  stack === undefined
    ? drills.all(db)
    : drills.select(db, "WHERE stack = :stack ORDER BY at DESC, id", { stack });

/** When a snapshot of each stack was last restored with success, by stack. */
export const selectLastGoodDrills = (db: Database): { stack: string; at: string }[] =>
  db.all(
    "SELECT stack, max(at) AS at FROM backup_drills WHERE ok = 1 GROUP BY stack ORDER BY stack",
  );

/** The newest drill of each stack, newest first. */
export const selectLatestBackupDrills = (db: Database): StoredDrill[] =>
  drills.select(
    db,
    `WHERE id = (
       SELECT id FROM backup_drills AS others WHERE others.stack = backup_drills.stack
       ORDER BY at DESC, id LIMIT 1
     ) ORDER BY at DESC, id`,
  );

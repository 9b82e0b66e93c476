/** The `fleet_boxes` table: requests that the hub of this host has left for it. @module */

import type { Database } from "./database.ts";
import { type Row, table, text } from "./columns.ts";

const boxes = table("fleet_boxes", {
  id: text(),
  /** The hub's key for links. */
  hub: text(),
  /** At the hub. */
  userName: text(),
  method: text(),
  path: text(),
  /** Sealed; `null` after the end. */
  request: text<string | null>(),
  /**
   * - `waiting`: not begun
   * - `begun`: whether it has an effect is not known yet
   * - `job`: it has started a job
   * - `done`: it needed no job; with an error, whether it had an effect is not known
   * - `refused`: it has changed nothing
   */
  state: text<"waiting" | "begun" | "job" | "done" | "refused">(),
  jobId: text<string | null>(),
  error: text<string | null>(),
  receivedAt: text(),
  expiresAt: text(),
  begunAt: text<string | null>(),
}, { order: "rowid" });

/** One request as stored. Times are ISO 8601, UTC. */
export type StoredBox = Row<typeof boxes>;

export const {
  find: selectFleetBox,
  all: selectFleetBoxes,
  update: updateFleetBox,
} = boxes;

/** Stores a box unless it was received before. */
export const insertFleetBox = (db: Database, box: StoredBox): boolean =>
  boxes.insertFields(db, box, "ON CONFLICT (id) DO NOTHING");

/** The oldest request that was not done. */
export const selectNextFleetBox = (db: Database): StoredBox | undefined =>
  boxes.selectOne(db, "WHERE state IN ('waiting', 'begun') ORDER BY rowid LIMIT 1");

/** Those whose job has not ended. */
export const selectFleetBoxesWithJob = (db: Database): StoredBox[] =>
  boxes.select(
    db,
    `WHERE state = 'job' AND job_id IN (SELECT id FROM jobs WHERE ended_at IS NULL)
     ORDER BY rowid`,
  );

export const countWaitingFleetBoxes = (db: Database): number =>
  boxes.countWhere(db, "WHERE state = 'waiting'");

export function deleteFleetBoxesBefore(db: Database, expiresAt: string): void {
  db.run(
    "DELETE FROM fleet_boxes WHERE expires_at < :expiresAt AND state IN ('job', 'done', 'refused')",
    { expiresAt },
  );
}

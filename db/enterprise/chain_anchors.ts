/**
 * The `compliance_anchors` table: where the chain of the compliance log continues after its oldest
 * entries were deleted.
 *
 * @module
 */

import { number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

const anchors = table("compliance_anchors", {
  /** The entry of the log that recorded the run. */
  entry_id: text(),
  /** Its place in the chain, which equals the number of entries ever deleted. */
  sequence: number(),
  hash: text(),
  /** ISO 8601, UTC. */
  created_at: text(),
});

/** The last entry deleted by a retention run. */
export type ChainAnchor = Row<typeof anchors>;

/** The latest anchor: the remaining log begins after it. */
export function selectAnchor(db: Database): ChainAnchor | undefined {
  return anchors.selectOne(db, "ORDER BY sequence DESC LIMIT 1");
}

/** Each run has one anchor, which advances as the run deletes. */
export function upsertAnchor(db: Database, anchor: ChainAnchor): void {
  anchors.insertFields(
    db,
    anchor,
    "ON CONFLICT (entry_id) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash",
  );
}

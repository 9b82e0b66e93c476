/**
 * The `compliance_anchors` table: where the chain of the compliance log goes on after its beginning
 * was deleted.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** The last entry that a run of the retention deleted. */
export interface ChainAnchor {
  /** The entry of the log that announced the run. */
  entry_id: string;
  /** Its place in the chain, which is also how many entries were ever deleted. */
  sequence: number;
  hash: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

/** The one that counts: what remains of the log begins after it. */
export function selectAnchor(db: Database): ChainAnchor | undefined {
  return db.get<ChainAnchor>(
    `SELECT entry_id, sequence, hash, created_at FROM compliance_anchors
     ORDER BY sequence DESC LIMIT 1`,
  );
}

/** A run has one, which moves on as it deletes. */
export function upsertAnchor(db: Database, anchor: ChainAnchor): void {
  db.run(
    `INSERT INTO compliance_anchors (entry_id, sequence, hash, created_at)
     VALUES (:entry_id, :sequence, :hash, :created_at)
     ON CONFLICT (entry_id) DO UPDATE SET sequence = excluded.sequence, hash = excluded.hash`,
    { ...anchor },
  );
}

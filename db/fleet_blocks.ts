/** The `fleet_blocks` table: images that a fleet has blocked, and blocks that a person has lifted. @module */

import { boolean, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const blocks = table("fleet_blocks", {
  /** `own`: signed by this hub; `hub`: by the hub of this member. */
  source: text<"own" | "hub">(),
  digest: text(),
  /** E.g. `linux/amd64`. */
  platform: text(),
  /** Grows with each change of any block. */
  number: number(),
  /** False after a person has lifted it. */
  isBlocked: boolean(),
  /** As the hub has signed it. */
  text: text(),
}, { key: "digest" });

export type StoredBlock = Row<typeof blocks>;

export const {
  /** Stores it in place of an earlier one of the same image. */
  replace: replaceFleetBlock,
} = blocks;

/** Newest first. */
export function selectFleetBlocks(db: Database, source: StoredBlock["source"]): StoredBlock[] {
  return blocks.select(db, "WHERE source = :source ORDER BY number DESC", { source });
}

/** Blocks of a digest that are not lifted, on all platforms. */
export function selectBlocksOfDigest(db: Database, digest: string): StoredBlock[] {
  return blocks.select(db, "WHERE digest = :digest AND is_blocked = 1", { digest });
}

/** Deletes those with the lowest numbers. */
export function deleteFleetBlocksBeyond(
  db: Database,
  source: StoredBlock["source"],
  max: number,
): void {
  db.run(
    `DELETE FROM fleet_blocks WHERE source = :source AND number NOT IN
       (SELECT number FROM fleet_blocks WHERE source = :source ORDER BY number DESC LIMIT :max)`,
    { source, max },
  );
}

/** Forgets those of the hub that this installation leaves. */
export function deleteBlocksOfHub(db: Database): void {
  db.run("DELETE FROM fleet_blocks WHERE source = 'hub'");
}

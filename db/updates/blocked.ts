/** The `blocked_updates` table: images that failed as the update of a container. @module */

import { type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

/** The digest that blocks every update of a container. */
export const EVERY_DIGEST = "*";

const blocked = table("blocked_updates", {
  id: text(),
  containerName: text(),
  /** Of the manifest; the image's id without one; {@linkcode EVERY_DIGEST}. */
  digest: text(),
  /** The reference of the failed update. */
  image: text(),
  reason: text(),
  jobId: text(),
  /** ISO 8601, UTC. */
  createdAt: text(),
}, { order: "created_at DESC, id" });

export type BlockedUpdate = Row<typeof blocked>;

export const {
  find: findBlockedUpdate,
  /** Stores it in place of an earlier one of the same container and digest. */
  replace: upsertBlockedUpdate,
  delete: deleteBlockedUpdate,
  /** Newest first. */
  all: selectBlockedUpdates,
} = blocked;

/** The newest one that blocks the digest. */
export function selectBlockedUpdate(
  db: Database,
  { containerName, digest }: Pick<BlockedUpdate, "containerName" | "digest">,
): BlockedUpdate | undefined {
  return blocked.selectOne(
    db,
    `WHERE container_name = :containerName AND digest IN (:digest, :every)
     ORDER BY created_at DESC LIMIT 1`,
    { containerName, digest, every: EVERY_DIGEST },
  );
}

export function deleteBlockedUpdatesOf(db: Database, containerName: string): void {
  db.run("DELETE FROM blocked_updates WHERE container_name = :containerName", { containerName });
}

/** Moves the blocks of a container to its new name; those of an earlier one of that name end. */
export function renameBlockedUpdates(db: Database, names: { from: string; to: string }): void {
  deleteBlockedUpdatesOf(db, names.to);
  db.run("UPDATE blocked_updates SET container_name = :to WHERE container_name = :from", names);
}

/**
 * The `blocked_updates` table: images that failed as the update of a container.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";

/** The digest that blocks every update of a container. */
export const EVERY_DIGEST = "*";

export interface BlockedUpdate {
  id: string;
  containerName: string;
  /** Of the manifest; the image's id without one; {@linkcode EVERY_DIGEST}. */
  digest: string;
  /** The reference of the failed update. */
  image: string;
  reason: string;
  jobId: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

const blocked = table<BlockedUpdate>("blocked_updates", {
  id: "value",
  containerName: "value",
  digest: "value",
  image: "value",
  reason: "value",
  jobId: "value",
  createdAt: "value",
});

export const {
  find: findBlockedUpdate,
  /** Stores it in place of an earlier one of the same container and digest. */
  replace: upsertBlockedUpdate,
  delete: deleteBlockedUpdate,
} = blocked;

/** Newest first. */
export function selectBlockedUpdates(db: Database): BlockedUpdate[] {
  return blocked.select(db, "ORDER BY created_at DESC, id");
}

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

/**
 * The `update_equal_digests` table: digests of a registry that stand for the same content as an image
 * of the engine, although the engine does not list them.
 *
 * @module
 */

import type { Database } from "../database.ts";

export interface EqualDigest {
  /** `sha256:...` */
  imageId: string;
  digest: string;
}

export function insertEqualDigest(db: Database, { imageId, digest }: EqualDigest): void {
  db.run(
    `INSERT INTO update_equal_digests (image_id, digest) VALUES (:imageId, :digest)
     ON CONFLICT DO NOTHING`,
    { imageId, digest },
  );
}

export function isEqualDigest(db: Database, { imageId, digest }: EqualDigest): boolean {
  return db.get(
    "SELECT 1 FROM update_equal_digests WHERE image_id = :imageId AND digest = :digest",
    { imageId, digest },
  ) !== undefined;
}

/** Deletes those of all other images. */
export function deleteEqualDigestsExcept(db: Database, imageIds: readonly string[]): void {
  db.run(
    `DELETE FROM update_equal_digests
     WHERE image_id NOT IN (SELECT value FROM json_each(:imageIds))`,
    { imageIds: JSON.stringify(imageIds) },
  );
}

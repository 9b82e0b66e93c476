/**
 * The `previous_images` table: images that containers used before an update, kept for a rollback.
 *
 * @module
 */

import { json, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

/** Data of volumes from before an update. */
export interface KeptData {
  /** Id of the backup target. */
  targetId: string;
  /** Name of the target. */
  place: string;
  /** Id of the snapshot. */
  snapshot: string;
  /** Names. */
  volumes: string[];
}

const previous = table("previous_images", {
  id: text(),
  containerName: text(),
  imageId: text(),
  /** The reference by which the container used it. */
  reference: text(),
  /** The name that keeps the image from being pruned. */
  tag: text(),
  /** Its data; `null` if the update did not keep them. */
  data: json<KeptData | null>(),
  /** When it was replaced; ISO 8601, UTC. */
  createdAt: text(),
});

export type PreviousImage = Row<typeof previous>;

export const {
  /** Stores it in place of an earlier record of the same container and image. */
  replace: upsertPreviousImage,
  delete: deletePreviousImage,
} = previous;

/** The images of a container, last used first. */
export function selectPreviousImages(db: Database, containerName: string): PreviousImage[] {
  return previous.select(
    db,
    "WHERE container_name = :containerName ORDER BY created_at DESC, id",
    { containerName },
  );
}

/** Images that were replaced before `at`. */
export function selectPreviousImagesBefore(db: Database, at: string): PreviousImage[] {
  return previous.select(db, "WHERE created_at < :at ORDER BY created_at", { at });
}

/** The data of all images. */
export const selectKeptData = (db: Database): KeptData[] =>
  previous.select(db).flatMap(({ data }) => data ?? []);

/**
 * Moves the images of a container to its new name. Those of an earlier container of that name are kept
 * until they are removed, but no container can go back to them.
 */
export function renamePreviousImages(
  db: Database,
  { from, to }: { from: string; to: string },
): void {
  // No container has a name with a slash.
  db.run("UPDATE previous_images SET container_name = '/' || id WHERE container_name = :to", {
    to,
  });
  db.run("UPDATE previous_images SET container_name = :to WHERE container_name = :from", {
    from,
    to,
  });
}

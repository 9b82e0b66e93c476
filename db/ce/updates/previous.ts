/**
 * The `previous_images` table: images that containers used before an update, kept for a rollback.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";

export interface PreviousImage {
  id: string;
  containerName: string;
  imageId: string;
  /** The reference by which the container used it. */
  reference: string;
  /** The name that keeps the image from being pruned. */
  tag: string;
  /** When it was replaced; ISO 8601, UTC. */
  createdAt: string;
}

const previous = table<PreviousImage>("previous_images", {
  id: "value",
  containerName: "value",
  imageId: "value",
  reference: "value",
  tag: "value",
  createdAt: "value",
});

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

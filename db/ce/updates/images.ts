/**
 * The `update_images` table: what the last checks of an image found.
 *
 * @module
 */

import { table } from "../../columns.ts";
import type { Database } from "../../database.ts";

export const VERSION_LEVELS = ["patch", "minor", "major"] as const;
export type VersionLevel = (typeof VERSION_LEVELS)[number];

/** A tag with a newer version. */
export interface NewerVersion {
  tag: string;
  /** The most significant part of the version that differs. */
  level: VersionLevel;
}

/** Times are ISO 8601, UTC. */
export interface CheckedImage {
  /** Canonical reference with its tag. */
  image: string;
  /** Of the last successful check; `null` before it. */
  latestDigest: string | null;
  /** Newest first. */
  newerVersions: NewerVersion[];
  /** Why the last check failed; `null` if it succeeded. */
  reason: string | null;
  /** As the registry last reported it. */
  rateLimitRemaining: number | null;
  checkedAt: string;
  lastGoodAt: string | null;
  /** When a failed check is repeated; `null`: after the usual time. */
  retryAt: string | null;
  /** From 0 to 1: varies the time of the next check. */
  jitter: number;
}

const images = table<CheckedImage>("update_images", {
  image: "value",
  latestDigest: "value",
  newerVersions: "json",
  reason: "value",
  rateLimitRemaining: "value",
  checkedAt: "value",
  lastGoodAt: "value",
  retryAt: "value",
  jitter: "value",
}, { key: "image" });

export const { find: selectCheckedImage, replace: replaceCheckedImage } = images;

export function selectCheckedImages(db: Database): CheckedImage[] {
  return images.select(db);
}

export function deleteImagesCheckedBefore(db: Database, at: string): void {
  db.run("DELETE FROM update_images WHERE checked_at < :at", { at });
}

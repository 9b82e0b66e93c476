/** The `update_images` table: what the last checks of an image found. @module */

import { json, number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

export const VERSION_LEVELS = ["patch", "minor", "major"] as const;
export type VersionLevel = (typeof VERSION_LEVELS)[number];

/** A tag with a newer version. */
export interface NewerVersion {
  tag: string;
  /** The most significant part of the version that differs. */
  level: VersionLevel;
}

const images = table("update_images", {
  /** Canonical reference with its tag. */
  image: text(),
  /** Of the last successful check; `null` before it. */
  latestDigest: text<string | null>(),
  /** Newest first. */
  newerVersions: json<NewerVersion[]>(),
  /** Why the last check failed; `null` if it succeeded. */
  reason: text<string | null>(),
  /** Why newer versions may be missing; `null` if the tags were listed completely. */
  versionsReason: text<string | null>(),
  /** As the registry last reported it. */
  rateLimitRemaining: number<number | null>(),
  checkedAt: text(),
  lastGoodAt: text<string | null>(),
  /** When a failed check is repeated; `null`: after the usual time. */
  retryAt: text<string | null>(),
  /** From 0 to 1: varies the time of the next check. */
  jitter: number(),
}, { key: "image" });

/** Times are ISO 8601, UTC. */
export type CheckedImage = Row<typeof images>;

export const {
  find: selectCheckedImage,
  all: selectCheckedImages,
  replace: replaceCheckedImage,
} = images;

export function deleteImagesCheckedBefore(db: Database, at: string): void {
  db.run("DELETE FROM update_images WHERE checked_at < :at", { at });
}

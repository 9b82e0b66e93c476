/**
 * The `update_digests` table: the digests that registries reported for an image, and since when.
 *
 * @module
 */

import { json, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

/** The image of an index for one platform. */
export interface PlatformDigest {
  digest: string;
  os: string;
  architecture: string;
  variant?: string;
}

/** An image of one platform, or an index of several. */
export type ManifestKind = "image" | "index";

const digests = table("update_digests", {
  /** Canonical reference with its tag. */
  image: text(),
  digest: text(),
  /** Since when it has been reported without another one in between. */
  firstSeenAt: text(),
  lastSeenAt: text(),
  /** When `image.update_available` was sent for it; `null` before. */
  announcedAt: text<string | null>(),
  /** Empty for a manifest that is not an index; `null` until it was read. */
  platforms: json<PlatformDigest[] | null>(),
  /** `null` if the registry did not say. */
  kind: text<ManifestKind | null>(),
}, { key: "image" });

/** Times are ISO 8601, UTC. */
type SeenDigest = Row<typeof digests>;

type DigestKey = Pick<SeenDigest, "image" | "digest">;

/** Whether the tag did not lead to the digest meanwhile, as far as it was looked up. */
const HAS_RETURNED = `last_seen_at < :since OR EXISTS (
  SELECT 1 FROM update_digests AS other
  WHERE other.image = update_digests.image AND other.digest <> update_digests.digest
    AND other.last_seen_at > update_digests.last_seen_at
)`;

/**
 * Records that a registry reported a digest. The time of the first report is kept; one that returns
 * is new again, so that it cannot become old enough while the tag leads to another image.
 *
 * @param seen.since When the tag was looked up before; `null` if that is recorded with other digests.
 */
export function upsertSeenDigest(
  db: Database,
  { kind = null, since = null, ...seen }: DigestKey & {
    at: string;
    kind?: ManifestKind | null | undefined;
    since?: string | null | undefined;
  },
): void {
  db.run(
    `INSERT INTO update_digests (image, digest, first_seen_at, last_seen_at, kind)
     VALUES (:image, :digest, :at, :at, :kind)
     ON CONFLICT (image, digest) DO UPDATE SET
       first_seen_at = CASE WHEN ${HAS_RETURNED} THEN excluded.first_seen_at ELSE first_seen_at END,
       announced_at = CASE WHEN ${HAS_RETURNED} THEN NULL ELSE announced_at END,
       last_seen_at = excluded.last_seen_at,
       kind = COALESCE(excluded.kind, kind)`,
    { ...seen, kind, since },
  );
}

/** Counts a tag that could not be looked up as one that still leads to the same digest. */
export function extendLatestDigest(
  db: Database,
  { image, at }: { image: string; at: string },
): void {
  const digest = selectLatestDigest(db, image);
  if (digest === undefined) return;
  db.run(
    "UPDATE update_digests SET last_seen_at = :at WHERE image = :image AND digest = :digest",
    { image, digest, at },
  );
}

export function selectSeenDigest(
  db: Database,
  { image, digest }: DigestKey,
): SeenDigest | undefined {
  return digests.selectOne(db, "WHERE image = :image AND digest = :digest", { image, digest });
}

/** The digest of an image that was reported last. */
export function selectLatestDigest(db: Database, image: string): string | undefined {
  return digests.selectOne(
    db,
    "WHERE image = :image ORDER BY last_seen_at DESC, first_seen_at DESC LIMIT 1",
    { image },
  )?.digest;
}

/** When each digest was first seen, by {@linkcode digestKey}. */
export function selectFirstSeen(db: Database): Map<string, string> {
  const rows = db.all<DigestKey & { at: string }>(
    "SELECT image, digest, first_seen_at AS at FROM update_digests",
  );
  return new Map(rows.map((row) => [digestKey(row), row.at]));
}

export const digestKey = ({ image, digest }: DigestKey): string => `${image} ${digest}`;

export function updateDigestPlatforms(
  db: Database,
  { image, digest, platforms }: DigestKey & { platforms: readonly PlatformDigest[] },
): void {
  db.run(
    "UPDATE update_digests SET platforms = :platforms WHERE image = :image AND digest = :digest",
    { image, digest, platforms: JSON.stringify(platforms) },
  );
}

/** @returns Whether it had not been announced yet. */
export function updateDigestAnnounced(db: Database, seen: DigestKey & { at: string }): boolean {
  return db.run(
    `UPDATE update_digests SET announced_at = :at
     WHERE image = :image AND digest = :digest AND announced_at IS NULL`,
    seen,
  ) > 0;
}

/** Forgets the digests of an image that the registry does not have any more. */
export function deleteDigestsOf(db: Database, image: string): void {
  db.run("DELETE FROM update_digests WHERE image = :image", { image });
}

export function deleteDigestsSeenBefore(db: Database, at: string): void {
  db.run("DELETE FROM update_digests WHERE last_seen_at < :at", { at });
}

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

/** Records that a registry reported a digest. The time of the first report is kept. */
export function upsertSeenDigest(
  db: Database,
  { kind = null, ...seen }: DigestKey & { at: string; kind?: ManifestKind | null | undefined },
): void {
  db.run(
    `INSERT INTO update_digests (image, digest, first_seen_at, last_seen_at, kind)
     VALUES (:image, :digest, :at, :at, :kind)
     ON CONFLICT (image, digest) DO UPDATE SET
       last_seen_at = excluded.last_seen_at,
       kind = COALESCE(excluded.kind, kind)`,
    { ...seen, kind },
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

export function deleteDigestsSeenBefore(db: Database, at: string): void {
  db.run("DELETE FROM update_digests WHERE last_seen_at < :at", { at });
}

/**
 * The `revoked_families` table: logins that ended while some of their access tokens may be valid.
 *
 * @module
 */

import type { Database } from "./database.ts";

/** A login that was ended early. */
interface RevokedFamily {
  familyId: string;
  /** When its last access token expires and the row can be deleted. ISO 8601, UTC. */
  expiresAt: string;
}

/** The logins to refuse, first to expire first. */
export function selectRevokedFamilies(db: Database, now: string): RevokedFamily[] {
  return db.all<RevokedFamily>(
    `SELECT family_id AS familyId, expires_at AS expiresAt FROM revoked_families
      WHERE expires_at > :now ORDER BY expires_at, family_id`,
    { now },
  );
}

/** Stores the end of a login; if it has already ended, the later expiry counts. */
export function upsertRevokedFamily(db: Database, family: RevokedFamily): void {
  db.run(
    `INSERT INTO revoked_families (family_id, expires_at) VALUES (:familyId, :expiresAt)
     ON CONFLICT (family_id) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
    { ...family },
  );
}

/** @returns How many were deleted. */
export function deleteExpiredRevokedFamilies(db: Database, now: string): number {
  return db.run("DELETE FROM revoked_families WHERE expires_at <= :now", { now });
}

/**
 * The `revoked_families` table: logins that were ended while access tokens of theirs may live.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** A login that was ended. */
export interface RevokedFamily {
  familyId: string;
  /** When its last access token ends, and it can be forgotten. ISO 8601, UTC. */
  expiresAt: string;
}

/** What is still to be refused, the first to be forgotten first. */
export function selectRevokedFamilies(db: Database, now: string): RevokedFamily[] {
  return db.all<RevokedFamily>(
    `SELECT family_id AS familyId, expires_at AS expiresAt FROM revoked_families
      WHERE expires_at > :now ORDER BY expires_at, family_id`,
    { now },
  );
}

/** Stores the end of a login; of one that was ended before, the later time counts. */
export function upsertRevokedFamily(db: Database, family: RevokedFamily): void {
  db.run(
    `INSERT INTO revoked_families (family_id, expires_at) VALUES (:familyId, :expiresAt)
     ON CONFLICT (family_id) DO UPDATE SET expires_at = max(expires_at, excluded.expires_at)`,
    { ...family },
  );
}

/** @returns How many could be forgotten. */
export function deleteExpiredRevokedFamilies(db: Database, now: string): number {
  return db.run("DELETE FROM revoked_families WHERE expires_at <= :now", { now });
}

/**
 * The `refresh_tokens` table: the tokens that renew a login, by their hashes.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One refresh token as stored. Times are ISO 8601, UTC. */
export interface RefreshToken {
  /** SHA-256 of the token, base64url. */
  tokenHash: string;
  /** The login that it continues. */
  familyId: string;
  /** A user, or `key` in key mode. */
  userId: string;
  createdAt: string;
  expiresAt: string;
  /** When the login ends, however often it is renewed; `null` for one that can go on. */
  endsAt: string | null;
  spentAt: string | null;
  /** Address of the client that used it. */
  spentFrom: string | null;
  /** Set where the family's refresh tokens are refused while its access tokens go on. */
  revokedAt: string | null;
}

/** One token, or `undefined` when the hash is unknown. */
export function selectRefreshToken(db: Database, tokenHash: string): RefreshToken | undefined {
  return db.get<RefreshToken>(
    `SELECT token_hash AS tokenHash, family_id AS familyId, user_id AS userId,
            created_at AS createdAt, expires_at AS expiresAt, ends_at AS endsAt,
            spent_at AS spentAt, spent_from AS spentFrom, revoked_at AS revokedAt
       FROM refresh_tokens WHERE token_hash = :tokenHash`,
    { tokenHash },
  );
}

/** The logins of a user that can be, or lately could be, renewed. */
export function selectFamiliesOfUser(db: Database, userId: string): string[] {
  return db.all<{ familyId: string }>(
    "SELECT DISTINCT family_id AS familyId FROM refresh_tokens WHERE user_id = :userId",
    { userId },
  ).map((row) => row.familyId);
}

export function insertRefreshToken(
  db: Database,
  token: Omit<RefreshToken, "spentAt" | "spentFrom" | "revokedAt">,
): void {
  db.run(
    `INSERT INTO refresh_tokens (token_hash, family_id, user_id, created_at, expires_at, ends_at)
     VALUES (:tokenHash, :familyId, :userId, :createdAt, :expiresAt, :endsAt)`,
    { ...token },
  );
}

/** Marks a token as used. */
export function updateRefreshTokenSpent(
  db: Database,
  spent: { tokenHash: string; spentAt: string; spentFrom: string },
): void {
  db.run(
    `UPDATE refresh_tokens SET spent_at = :spentAt, spent_from = :spentFrom
      WHERE token_hash = :tokenHash`,
    spent,
  );
}

/** Revokes the refresh tokens of a user. */
export function updateRefreshTokensRevoked(db: Database, userId: string, revokedAt: string): void {
  db.run(
    `UPDATE refresh_tokens SET revoked_at = :revokedAt
      WHERE user_id = :userId AND revoked_at IS NULL`,
    { userId, revokedAt },
  );
}

export function deleteRefreshTokensOfFamily(db: Database, familyId: string): void {
  db.run("DELETE FROM refresh_tokens WHERE family_id = :familyId", { familyId });
}

/** @returns How many had expired. */
export function deleteExpiredRefreshTokens(db: Database, now: string): number {
  return db.run("DELETE FROM refresh_tokens WHERE expires_at <= :now", { now });
}

/** The `refresh_tokens` table: hashes of the tokens that renew a login. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const tokens = table(
  "refresh_tokens",
  {
    /** SHA-256 of the token, base64url. */
    tokenHash: text(),
    /** The login that the token renews. */
    familyId: text(),
    /** A user, or `key` in key mode. */
    userId: text(),
    createdAt: text(),
    expiresAt: text(),
    /** When the login ends regardless of renewals; `null` without such a limit. */
    endsAt: text<string | null>(),
    spentAt: text<string | null>(),
    /** Address of the client that used it. */
    spentFrom: text<string | null>(),
    /** Set when the refresh tokens of the family are refused while its access tokens stay valid. */
    revokedAt: text<string | null>(),
    /** The hash of the page's secret; `null` if the token was not issued as a cookie. */
    pageHash: text<string | null>(),
  },
  { key: "tokenHash" },
);

/** One refresh token as stored. Times are ISO 8601, UTC. */
export type RefreshToken = Row<typeof tokens>;

export const { find: selectRefreshToken } = tokens;

/** The logins of a user whose refresh tokens have not been deleted. */
export function selectFamiliesOfUser(db: Database, userId: string): string[] {
  return db.all<{ familyId: string }>(
    "SELECT DISTINCT family_id AS familyId FROM refresh_tokens WHERE user_id = :userId",
    { userId },
  ).map((row) => row.familyId);
}

/** The logins of a page. */
export function selectFamiliesOfPage(db: Database, pageHash: string): string[] {
  return db.all<{ familyId: string }>(
    "SELECT DISTINCT family_id AS familyId FROM refresh_tokens WHERE page_hash = :pageHash",
    { pageHash },
  ).map((row) => row.familyId);
}

export function insertRefreshToken(
  db: Database,
  token: Omit<RefreshToken, "spentAt" | "spentFrom" | "revokedAt">,
): void {
  tokens.insertFields(db, token);
}

/** Marks a token as used. */
export function updateRefreshTokenSpent(
  db: Database,
  { tokenHash, ...spent }: { tokenHash: string; spentAt: string; spentFrom: string },
): void {
  tokens.update(db, tokenHash, spent);
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

/** @returns How many were deleted. */
export function deleteExpiredRefreshTokens(db: Database, now: string): number {
  return db.run("DELETE FROM refresh_tokens WHERE expires_at <= :now", { now });
}

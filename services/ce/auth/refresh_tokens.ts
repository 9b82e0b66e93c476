/**
 * Refresh tokens: creation and storage.
 *
 * @module
 */

import { randomText, sha256 } from "../../builtins.ts";
import { insertRefreshToken } from "../../../db/ce/refresh_tokens.ts";
import type { Session } from "../../auth/accounts.ts";
import type { Deps } from "../../deps.ts";

export const REFRESH_TOKEN_S = 30 * 24 * 60 * 60;

const REFRESH_TOKEN_BYTES = 32;

/** Creates the first refresh token of a login. */
export const makeRefreshToken = (): string => randomText(REFRESH_TOKEN_BYTES);

/**
 * Derives the refresh token that follows another one. It can be computed neither from the database,
 * which stores only hashes, nor from the token without `SECRET_KEY`.
 */
export const refreshTokenAfter = (
  { secrets }: Pick<Deps, "secrets">,
  token: string,
): Promise<string> => secrets.fingerprint(`refresh token after ${token}`);

/** The id of the access token that is issued together with a refresh token. */
export const accessTokenId = (refreshToken: string): string =>
  sha256(`access token of ${refreshToken}`);

/** Unsalted, because 256 random bits cannot be guessed. */
export const refreshTokenHash = (token: string): string => sha256(token);

/**
 * Stores the hash of a token that continues a login. For `endsAt` see `OpenLogin`.
 *
 * @returns When it expires; ISO 8601, UTC.
 */
export function storeRefreshToken(
  db: Deps["db"],
  token: string,
  { userId, familyId }: Session,
  createdAt: Date,
  endsAt: Date | null,
): string {
  const expiresAtMs = Math.min(
    createdAt.getTime() + REFRESH_TOKEN_S * 1000,
    endsAt?.getTime() ?? Infinity,
  );
  const expiresAt = new Date(expiresAtMs).toISOString();
  insertRefreshToken(db, {
    tokenHash: refreshTokenHash(token),
    familyId,
    userId,
    createdAt: createdAt.toISOString(),
    expiresAt,
    endsAt: endsAt?.toISOString() ?? null,
  });
  return expiresAt;
}

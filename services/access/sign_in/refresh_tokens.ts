/** Refresh tokens: creation and storage. @module */

import { randomText, sha256 } from "../../builtins.ts";
import {
  insertRefreshToken,
  type RefreshToken,
  selectRefreshToken,
} from "../../../db/refresh_tokens.ts";
import type { Session } from "../accounts.ts";
import type { OpenLogin, PresentedTokens } from "./open_login.ts";
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

/** A presented refresh token and its stored record. */
export interface FoundToken {
  token: string;
  found: RefreshToken;
}

/**
 * Finds the client's refresh token among those that it presents: the unused one, or else the one
 * that was used last. Tokens of other pages, and of other kinds of clients, are ignored.
 */
export function findRefreshToken(
  db: Deps["db"],
  { tokens, pageHash }: PresentedTokens,
): FoundToken | undefined {
  let best: FoundToken | undefined;
  for (const token of tokens) {
    const found = selectRefreshToken(db, refreshTokenHash(token));
    if (!found || found.pageHash !== pageHash) continue;
    if (found.spentAt === null) return { token, found };
    if (!best || found.spentAt > best.found.spentAt!) best = { token, found };
  }
  return best;
}

/**
 * Stores the hash of a token that continues a login. For the terms see `OpenLogin`.
 *
 * @returns When it expires; ISO 8601, UTC.
 */
export function storeRefreshToken(
  db: Deps["db"],
  token: string,
  { userId, familyId }: Session,
  createdAt: Date,
  { endsAt, pageHash }: Pick<OpenLogin, "endsAt" | "pageHash">,
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
    pageHash,
  });
  return expiresAt;
}

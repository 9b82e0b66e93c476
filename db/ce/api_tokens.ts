/**
 * The `api_tokens` table: tokens for scripts and other programs.
 *
 * @module
 */

import { type Columns, table } from "../columns.ts";
import type { Database } from "../database.ts";

/** One token. Times are ISO 8601, UTC. */
export interface ApiToken {
  id: string;
  /** The owner: a user, or `key` in key mode. */
  userId: string;
  name: string;
  /** SHA-256 of the token, base64url. */
  tokenHash: string;
  role: "viewer" | "operator" | "admin";
  /** `null` for all permissions of the role. */
  permissions: string[] | null;
  /** Patterns of stack names; `null` for all. */
  stacks: string[] | null;
  /** Patterns of container names; `null` for all. */
  containers: string[] | null;
  createdAt: string;
  /** When the secret was last replaced. */
  rotatedAt: string | null;
  /** `null` for a token that does not expire. */
  expiresAt: string | null;
  /** Accurate to a minute. */
  lastUsedAt: string | null;
  lastUsedAddress: string | null;
}

const columns: Columns<ApiToken> = {
  id: "value",
  userId: "value",
  name: "value",
  tokenHash: "value",
  role: "value",
  permissions: "json",
  stacks: "json",
  containers: "json",
  createdAt: "value",
  rotatedAt: "value",
  expiresAt: "value",
  lastUsedAt: "value",
  lastUsedAddress: "value",
};

const tokens = table<ApiToken>("api_tokens", columns);

export const { find: selectApiToken, insert: insertApiToken, delete: deleteApiToken } = tokens;

/** All tokens, newest first. */
export function selectApiTokens(db: Database): ApiToken[] {
  return tokens.select(db, "ORDER BY created_at DESC, id");
}

/** The tokens of a user, newest first. */
export function selectApiTokensOfUser(db: Database, userId: string): ApiToken[] {
  return tokens.select(db, "WHERE user_id = :userId ORDER BY created_at DESC, id", { userId });
}

export function countApiTokensOfUser(db: Database, userId: string): number {
  return tokens.countWhere(db, "WHERE user_id = :userId", { userId });
}

/** Replaces the secret. @returns Whether the id was known. */
export function updateApiTokenHash(
  db: Database,
  id: string,
  changes: Pick<ApiToken, "tokenHash" | "rotatedAt">,
): boolean {
  return tokens.update(db, id, changes);
}

export function updateApiTokenUse(
  db: Database,
  id: string,
  use: Pick<ApiToken, "lastUsedAt" | "lastUsedAddress">,
): void {
  tokens.update(db, id, use);
}

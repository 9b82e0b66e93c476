/** The `api_tokens` table: tokens for scripts and other programs. @module */

import { json, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const tokens = table("api_tokens", {
  id: text(),
  /** The owner: a user, or `key` in key mode. */
  userId: text(),
  name: text(),
  /** SHA-256 of the token, base64url. */
  tokenHash: text(),
  role: text<"viewer" | "operator" | "admin">(),
  /** `null` for all permissions of the role. */
  permissions: json<string[] | null>(),
  /** Patterns of stack names; `null` for all. */
  stacks: json<string[] | null>(),
  /** Patterns of container names; `null` for all. */
  containers: json<string[] | null>(),
  /** Patterns of names of hosts of the fleet; `null` for all. */
  hosts: json<string[] | null>(),
  /** Labels of hosts, of which one has to match; `null` for all. */
  hostLabels: json<string[] | null>(),
  createdAt: text(),
  /** When the secret was last replaced. */
  rotatedAt: text<string | null>(),
  /** `null` for a token that does not expire. */
  expiresAt: text<string | null>(),
  /** Accurate to a minute. */
  lastUsedAt: text<string | null>(),
  lastUsedAddress: text<string | null>(),
}, { order: "created_at DESC, id" });

/** One token. Times are ISO 8601, UTC. */
export type ApiToken = Row<typeof tokens>;

export const {
  find: selectApiToken,
  insert: insertApiToken,
  delete: deleteApiToken,
  /** All tokens, newest first. */
  all: selectApiTokens,
} = tokens;

/** The tokens of a user, newest first. */
export function selectApiTokensOfUser(db: Database, userId: string): ApiToken[] {
  return tokens.select(db, "WHERE user_id = :userId ORDER BY created_at DESC, id", { userId });
}

export function countApiTokensOfUser(db: Database, userId: string): number {
  return tokens.countWhere(db, "WHERE user_id = :userId", { userId });
}

export function deleteApiTokensOfUser(db: Database, userId: string): void {
  db.run("DELETE FROM api_tokens WHERE user_id = :userId", { userId });
}

/** Gives the tokens of a user to another one. */
export function updateApiTokensOwner(db: Database, from: string, to: string): void {
  db.run("UPDATE api_tokens SET user_id = :to WHERE user_id = :from", { from, to });
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

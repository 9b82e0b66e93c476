/** The `push_tokens` table: devices registered for push notifications. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const tokens = table("push_tokens", {
  id: text(),
  /** Keyed hash of the token. Unique. */
  tokenKey: text(),
  /** The token, encrypted. */
  sealed: text(),
  userId: text(),
  /** ISO 8601, UTC. */
  registeredAt: text(),
});

/** One app on one device. */
export type PushToken = Row<typeof tokens>;

export const { find: selectPushToken, delete: deletePushToken } = tokens;

/** The devices of one user, last registered first. */
export function selectPushTokensOfUser(db: Database, userId: string): PushToken[] {
  return tokens.select(db, "WHERE user_id = :userId ORDER BY registered_at DESC, id", { userId });
}

/** The devices of all users with an account. */
export function selectPushTokensOfUsers(db: Database): PushToken[] {
  return tokens.select(db, "WHERE user_id IN (SELECT id FROM users) ORDER BY id");
}

/** The devices of users with an account but no password. */
export function selectPushTokensOfUsersWithoutPassword(db: Database): PushToken[] {
  return tokens.select(
    db,
    "WHERE user_id IN (SELECT id FROM users WHERE password_hash IS NULL) ORDER BY id",
  );
}

export function deletePushTokensOfUser(db: Database, userId: string): void {
  db.run("DELETE FROM push_tokens WHERE user_id = :userId", { userId });
}

/** Stores a registration. A repeated one of the same token and user keeps its id. */
export function upsertPushToken(db: Database, registration: PushToken): void {
  tokens.insertFields(
    db,
    registration,
    `ON CONFLICT (token_key) DO UPDATE SET
       id = iif(user_id = excluded.user_id, id, excluded.id),
       sealed = excluded.sealed,
       user_id = excluded.user_id,
       registered_at = excluded.registered_at`,
  );
}

/** Deletes a user's devices beyond the last registered ones. @returns How many were deleted. */
export function deleteSurplusPushTokens(db: Database, userId: string, keep: number): number {
  return db.run(
    `DELETE FROM push_tokens WHERE id IN (
       SELECT id FROM push_tokens WHERE user_id = :userId
       ORDER BY registered_at DESC, rowid DESC LIMIT -1 OFFSET :keep
     )`,
    { userId, keep },
  );
}

/** Gives the devices of a user to another one. */
export function updatePushTokensOwner(db: Database, from: string, to: string): void {
  db.run("UPDATE push_tokens SET user_id = :to WHERE user_id = :from", { from, to });
}

/** @returns Whether the user had the token. */
export function deletePushTokenOfUser(db: Database, userId: string, tokenKey: string): boolean {
  return db.run("DELETE FROM push_tokens WHERE user_id = :userId AND token_key = :tokenKey", {
    userId,
    tokenKey,
  }) > 0;
}

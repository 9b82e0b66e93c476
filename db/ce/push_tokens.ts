/**
 * The `push_tokens` table: the devices that users registered for pushes.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One app on one device. */
export interface PushToken {
  id: string;
  /** Keyed hash of the token. Unique. */
  tokenKey: string;
  /** The token, encrypted. */
  sealed: string;
  userId: string;
  /** ISO 8601, UTC. */
  registeredAt: string;
}

const COLUMNS =
  "id, token_key AS tokenKey, sealed, user_id AS userId, registered_at AS registeredAt";

/** One registration, or `undefined` when it is gone. */
export function selectPushToken(db: Database, id: string): PushToken | undefined {
  return db.get<PushToken>(`SELECT ${COLUMNS} FROM push_tokens WHERE id = :id`, { id });
}

/** The devices of one user, those first that registered last. */
export function selectPushTokensOfUser(db: Database, userId: string): PushToken[] {
  return db.all<PushToken>(
    `SELECT ${COLUMNS} FROM push_tokens WHERE user_id = :userId
     ORDER BY registered_at DESC, id`,
    { userId },
  );
}

/** The devices of everybody who has an account. */
export function selectPushTokensOfUsers(db: Database): PushToken[] {
  return db.all<PushToken>(
    `SELECT ${COLUMNS} FROM push_tokens WHERE user_id IN (SELECT id FROM users) ORDER BY id`,
  );
}

/** The devices of those who have an account and no password. */
export function selectPushTokensOfUsersWithoutPassword(db: Database): PushToken[] {
  return db.all<PushToken>(
    `SELECT ${COLUMNS} FROM push_tokens
      WHERE user_id IN (SELECT id FROM users WHERE password_hash IS NULL) ORDER BY id`,
  );
}

/** Stores a registration in place of a former one of the token. It keeps its id with its owner. */
export function upsertPushToken(db: Database, registration: PushToken): void {
  db.run(
    `INSERT INTO push_tokens (id, token_key, sealed, user_id, registered_at)
     VALUES (:id, :tokenKey, :sealed, :userId, :registeredAt)
     ON CONFLICT (token_key) DO UPDATE SET
       id = iif(user_id = excluded.user_id, id, excluded.id),
       sealed = excluded.sealed,
       user_id = excluded.user_id,
       registered_at = excluded.registered_at`,
    { ...registration },
  );
}

/** Of one user's devices all but the ones that registered last. @returns How many went. */
export function deleteSurplusPushTokens(db: Database, userId: string, kept: number): number {
  return db.run(
    `DELETE FROM push_tokens WHERE id IN (
       SELECT id FROM push_tokens WHERE user_id = :userId
       ORDER BY registered_at DESC, rowid DESC LIMIT -1 OFFSET :kept
     )`,
    { userId, kept },
  );
}

/** @returns Whether it was there. */
export function deletePushToken(db: Database, id: string): boolean {
  return db.run("DELETE FROM push_tokens WHERE id = :id", { id }) > 0;
}

/** @returns Whether the user had it. */
export function deletePushTokenOfUser(db: Database, userId: string, tokenKey: string): boolean {
  return db.run("DELETE FROM push_tokens WHERE user_id = :userId AND token_key = :tokenKey", {
    userId,
    tokenKey,
  }) > 0;
}

/** Registrations that an earlier version stored with the token in clear. */
export function selectClearPushTokens(db: Database): { id: string; token: string }[] {
  return db.all("SELECT id, token_key AS token FROM push_tokens WHERE sealed IS NULL");
}

/** Replaces a clear token; a newer registration of the same device wins. */
export function updatePushTokenSealed(
  db: Database,
  registration: Pick<PushToken, "id" | "tokenKey" | "sealed">,
): void {
  const changed = db.run(
    `UPDATE OR IGNORE push_tokens SET token_key = :tokenKey, sealed = :sealed
     WHERE id = :id AND sealed IS NULL`,
    { ...registration },
  );
  if (changed === 0) {
    db.run("DELETE FROM push_tokens WHERE id = :id AND sealed IS NULL", {
      id: registration.id,
    });
  }
}

/**
 * The `sessions` table: logins that have not ended. Their tokens are in `refresh_tokens`.
 *
 * @module
 */

import { boolean, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { Page } from "./page.ts";

const sessions = table("sessions", {
  /** The family of its tokens. */
  id: text(),
  /** A user, or `key` in key mode. */
  userId: text(),
  /** Address of the last sign-in or refresh; `null` if it was before the table. */
  address: text<string | null>(),
  /** `User-Agent` of the sign-in. */
  userAgent: text<string | null>(),
  createdAt: text(),
  /** The last sign-in or refresh. */
  lastUsedAt: text(),
  /** When its last token expires. */
  expiresAt: text(),
  /** Whether an identity provider says that it has asked for several factors. */
  hasSecondFactor: boolean(),
}, { order: "last_used_at DESC, id" });

/** One session as stored. Times are ISO 8601, UTC. */
export type Session = Row<typeof sessions>;

export const { find: selectSession, insert: insertSession, delete: deleteSession } = sessions;

/** The sessions of one user, or of all, that have not expired. */
interface ActiveSessions {
  userId?: string;
  now: string;
}

const activeOf = ({ userId }: ActiveSessions) => {
  const user = userId === undefined ? "IN (SELECT id FROM users)" : "= :userId";
  return `WHERE user_id ${user} AND expires_at > :now`;
};

/** Active sessions, last used first. */
export function selectSessions(db: Database, of: ActiveSessions, page: Page): Session[] {
  return sessions.page(db, page, activeOf(of), { ...of });
}

export function countSessions(db: Database, of: ActiveSessions): number {
  return sessions.countWhere(db, activeOf(of), { ...of });
}

/** Stores a refresh. */
export function updateSessionUse(
  db: Database,
  id: string,
  use: Pick<Session, "address" | "lastUsedAt" | "expiresAt">,
): void {
  sessions.update(db, id, use);
}

/** Makes the sessions of a user expire at a time, unless they do so earlier. */
export function updateSessionsExpiry(db: Database, userId: string, expiresAt: string): void {
  db.run(
    "UPDATE sessions SET expires_at = min(expires_at, :expiresAt) WHERE user_id = :userId",
    { userId, expiresAt },
  );
}

/** @returns How many were deleted. */
export function deleteExpiredSessions(db: Database, now: string): number {
  return db.run("DELETE FROM sessions WHERE expires_at <= :now", { now });
}

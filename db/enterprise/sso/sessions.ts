/** The `sso_sessions` table: logins through an identity provider. @module */

import { type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { Page } from "../../page.ts";

const sessions = table("sso_sessions", {
  id: text(),
  provider_id: text(),
  user_id: text(),
  /** The token family of the login. */
  family_id: text(),
  /** As given by the identity provider. */
  email: text(),
  ip: text(),
  created_at: text(),
  expires_at: text(),
}, { order: "created_at DESC, id" });

/** One session as stored. Times are ISO 8601, UTC. */
export type SsoSession = Row<typeof sessions>;

export const { find: selectSession, insert: insertSession, delete: deleteSession } = sessions;

/** The times that decide which sessions are active. */
export interface ActiveAt {
  now: string;
  /** If the refresh tokens were revoked before this time, all access tokens have expired. */
  refusedSince: string;
}

// A login that ended early (logout, stolen token, changed password) has no refresh tokens left.
// After a change of the user's role they are revoked, and the session ends with its last access
// token.
const ACTIVE = `
  expires_at > :now AND EXISTS (
    SELECT 1 FROM refresh_tokens t
     WHERE t.family_id = sso_sessions.family_id
       AND (t.revoked_at IS NULL OR t.revoked_at > :refusedSince))`;

/** Active sessions, newest first. */
export function selectActiveSessions(db: Database, at: ActiveAt, page: Page): SsoSession[] {
  return sessions.page(db, page, `WHERE ${ACTIVE}`, { ...at });
}

export function countActiveSessions(db: Database, at: ActiveAt): number {
  return sessions.countWhere(db, `WHERE ${ACTIVE}`, { ...at });
}

/** The token families of all logins through a provider. */
export function selectFamiliesOfProvider(db: Database, providerId: string): string[] {
  return db.all<{ familyId: string }>(
    "SELECT family_id AS familyId FROM sso_sessions WHERE provider_id = :providerId",
    { providerId },
  ).map((row) => row.familyId);
}

export function deleteSessionsOfProvider(db: Database, providerId: string): void {
  db.run("DELETE FROM sso_sessions WHERE provider_id = :providerId", { providerId });
}

/** @returns How many were deleted. */
export function deleteEndedSessions(db: Database, at: ActiveAt): number {
  return db.run(`DELETE FROM sso_sessions WHERE NOT (${ACTIVE})`, { ...at });
}

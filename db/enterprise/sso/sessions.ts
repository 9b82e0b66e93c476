/**
 * The `sso_sessions` table: logins for which an identity provider vouched.
 *
 * @module
 */

import type { Database } from "../../database.ts";

/** One session as stored. Times are ISO 8601, UTC. */
export interface SsoSession {
  id: string;
  provider_id: string;
  user_id: string;
  /** The login whose tokens it is. */
  family_id: string;
  /** As the identity provider wrote it. */
  email: string;
  ip: string;
  created_at: string;
  expires_at: string;
}

const COLUMNS = "id, provider_id, user_id, family_id, email, ip, created_at, expires_at";

/** Two times that decide which sessions are active. */
export interface ActiveAt {
  now: string;
  /** Whose refresh tokens were refused before has no access token left either. */
  refusedSince: string;
}

// A login that ended otherwise (logout, a stolen token, a changed password) has no refresh tokens
// any more; one whose user's role changed has refused ones, and ends with its last access token.
const ACTIVE = `
  expires_at > :now AND EXISTS (
    SELECT 1 FROM refresh_tokens t
     WHERE t.family_id = sso_sessions.family_id
       AND (t.revoked_at IS NULL OR t.revoked_at > :refusedSince))`;

/** Active sessions, newest first. */
export function selectActiveSessions(
  db: Database,
  at: ActiveAt,
  { limit, offset }: { limit: number; offset: number },
): SsoSession[] {
  return db.all<SsoSession>(
    `SELECT ${COLUMNS} FROM sso_sessions WHERE ${ACTIVE}
      ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset`,
    { ...at, limit, offset },
  );
}

export function countActiveSessions(db: Database, at: ActiveAt): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM sso_sessions WHERE ${ACTIVE}`,
    { ...at },
  )!.n;
}

/** One session, active or not, or `undefined` when the id is unknown. */
export function selectSession(db: Database, id: string): SsoSession | undefined {
  return db.get<SsoSession>(`SELECT ${COLUMNS} FROM sso_sessions WHERE id = :id`, { id });
}

/** The logins that a provider vouched for. */
export function selectFamiliesOfProvider(db: Database, providerId: string): string[] {
  return db.all<{ familyId: string }>(
    "SELECT family_id AS familyId FROM sso_sessions WHERE provider_id = :providerId",
    { providerId },
  ).map((row) => row.familyId);
}

export function insertSession(db: Database, session: SsoSession): void {
  db.run(
    `INSERT INTO sso_sessions (${COLUMNS})
     VALUES (:id, :provider_id, :user_id, :family_id, :email, :ip, :created_at, :expires_at)`,
    { ...session },
  );
}

export function deleteSession(db: Database, id: string): void {
  db.run("DELETE FROM sso_sessions WHERE id = :id", { id });
}

export function deleteSessionsOfProvider(db: Database, providerId: string): void {
  db.run("DELETE FROM sso_sessions WHERE provider_id = :providerId", { providerId });
}

/** @returns How many were not active any more. */
export function deleteEndedSessions(db: Database, at: ActiveAt): number {
  return db.run(`DELETE FROM sso_sessions WHERE NOT (${ACTIVE})`, { ...at });
}

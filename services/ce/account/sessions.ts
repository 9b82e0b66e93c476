/**
 * The sessions of an account: where it is signed in, and signing out there.
 *
 * @module
 */

import {
  countSessionsOfUser,
  selectSession,
  selectSessionsOfUser,
  type Session as StoredSession,
} from "../../../db/ce/sessions.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import { revokeFamiliesOfUser, revokeFamily } from "../auth/families.ts";

type Session = Omit<StoredSession, "userId" | "expiresAt"> & {
  /** Whether the caller's token belongs to it. */
  current: boolean;
};

interface Page {
  limit: number;
  offset: number;
}

type EndDeps = Pick<Deps, "db" | "accounts" | "now" | "log">;

/** A page of a user's sessions, last used first. */
export function listSessions(
  { db, now }: Pick<Deps, "db" | "now">,
  caller: Caller,
  userId: string,
  page: Page,
): Page & { sessions: Session[]; total: number } {
  const at = { userId, now: now().toISOString() };
  const sessions = selectSessionsOfUser(db, at, page).map((session) => ({
    ...session,
    current: session.id === caller.familyId,
  }));
  return { sessions, total: countSessionsOfUser(db, at), ...page };
}

/** Revokes one session of a user. @throws {AppError} `not_found` if the user has no such session. */
export function revokeSession(deps: EndDeps, userId: string, id: string): void {
  const { db, now, log } = deps;
  const session = selectSession(db, id);
  if (session?.userId !== userId || session.expiresAt <= now().toISOString()) {
    throw notFound("Session", id);
  }
  revokeFamily(deps, id);
  log.info("session revoked", { userId, sessionId: id });
}

/**
 * Revokes every session of a user.
 *
 * @param except The id of a session that stays.
 */
export function revokeSessions(deps: EndDeps, userId: string, except?: string): void {
  revokeFamiliesOfUser(deps, userId, { except });
  deps.log.info("sessions revoked", { userId, except });
}

/** The sessions of an account: where it is signed in, and signing out there. @module */

import {
  countSessions,
  selectSession,
  selectSessions,
  type Session as StoredSession,
} from "../../../db/sessions.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../../deps.ts";
import { notFound } from "../../errors.ts";
import { revokeFamiliesOfUser, revokeFamily } from "../sign_in/families.ts";
import { listUsers } from "./users.ts";

type Session = Omit<StoredSession, "expiresAt"> & {
  /** Whether the caller's token belongs to it. */
  current: boolean;
};

interface Page {
  limit: number;
  offset: number;
}

type EndDeps = Pick<Deps, "db" | "accounts" | "now" | "log">;

/** A page of the sessions of a user, or of all users, last used first. */
export function listSessions(
  { db, now }: Pick<Deps, "db" | "now">,
  caller: Caller,
  userId: string | undefined,
  page: Page,
): Page & { sessions: Session[]; total: number } {
  const of = { now: now().toISOString(), ...(userId !== undefined && { userId }) };
  const sessions = selectSessions(db, of, page).map((session) => ({
    ...session,
    current: session.id === caller.familyId,
  }));
  return { sessions, total: countSessions(db, of), ...page };
}

/** The same, with the email address of each user. @throws {AppError} `not_found` in key mode. */
export function listUserSessions(
  deps: Pick<Deps, "accounts" | "db" | "now">,
  caller: Caller,
  userId: string | undefined,
  page: Page,
): Page & { sessions: (Session & { email: string })[]; total: number } {
  const emails = new Map(listUsers(deps).map(({ id, email }) => [id, email]));
  const { sessions, ...rest } = listSessions(deps, caller, userId, page);
  return {
    sessions: sessions.map((session) => ({ ...session, email: emails.get(session.userId)! })),
    ...rest,
  };
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

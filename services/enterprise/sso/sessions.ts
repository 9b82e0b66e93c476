/** Sessions that were started by single sign-on. @module */

import { deleteExpiredAssertions } from "../../../db/enterprise/sso/assertions.ts";
import { deleteExpiredRequests } from "../../../db/enterprise/sso/requests.ts";
import {
  type ActiveAt,
  countActiveSessions,
  deleteEndedSessions,
  deleteSession,
  deleteSessionsOfProvider,
  selectActiveSessions,
  selectFamiliesOfProvider,
  selectSession,
  type SsoSession,
} from "../../../db/enterprise/sso/sessions.ts";
import type { Page, Paged } from "../../../db/page.ts";
import { revokeFamilies } from "../../access/sign_in/families.ts";
import { ACCESS_TOKEN_S } from "../../access/sign_in/tokens.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";

type EndDeps = Pick<Deps, "db" | "accounts" | "now">;

/** Lists active sessions, newest first. */
export function listSessions(
  { db, now }: Pick<Deps, "db" | "now">,
  page: Page,
): { sessions: SsoSession[] } & Paged {
  const at = activeAt(now());
  const sessions = selectActiveSessions(db, at, page);
  return { sessions, total: countActiveSessions(db, at), ...page };
}

/**
 * Ends a session. Its access and refresh tokens are refused from the next request.
 *
 * @throws {AppError} `not_found`.
 */
export function revokeSession(deps: EndDeps & Pick<Deps, "log">, id: string): void {
  const { db, log } = deps;
  const session = requireFound(selectSession(db, id), "SSO session", id);
  revokeFamilies(deps, () => {
    deleteSession(db, id);
    return [session.family_id];
  });
  log.info("SSO session revoked", { sessionId: id, userId: session.user_id });
}

/**
 * Ends every session of a provider.
 *
 * @param change A change to store in the same transaction, e.g. disabling the provider.
 */
export function endSessionsOfProvider(deps: EndDeps, providerId: string, change: () => void): void {
  const { db } = deps;
  revokeFamilies(deps, () => {
    const families = selectFamiliesOfProvider(db, providerId);
    deleteSessionsOfProvider(db, providerId);
    change();
    return families;
  });
}

/** Deletes sessions that are no longer active. @returns Their number. */
export function purgeSessions({ db, now }: Pick<Deps, "db" | "now">): number {
  return deleteEndedSessions(db, activeAt(now()));
}

/** Deletes ended sessions and expired requests and assertion IDs. @returns Their number. */
export function sweepSso({ db, now }: Pick<Deps, "db" | "now">): number {
  const at = now().toISOString();
  return purgeSessions({ db, now }) + deleteExpiredRequests(db, at) +
    deleteExpiredAssertions(db, at);
}

function activeAt(now: Date): ActiveAt {
  const refusedSince = new Date(now.getTime() - ACCESS_TOKEN_S * 1000).toISOString();
  return { now: now.toISOString(), refusedSince };
}

/**
 * Asks the provider again whether a user still has their role, at each refresh of a session: access
 * tokens last 15 minutes, so that a group that was removed has no effect after that time.
 *
 * @module
 */

import {
  type OidcSession,
  selectOidcSession,
  updateOidcSessionCheck,
} from "../../../db/oidc_sessions.ts";
import { selectSession } from "../../../db/sessions.ts";
import { selectUser } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { errorFields } from "../../log.ts";
import { revokeFamily } from "../sign_in/families.ts";
import { SignInRefusal } from "../sign_in/refusal.ts";
import { ACCESS_TOKEN_S } from "../sign_in/tokens.ts";
import { type Claims, groupsAt, isComplete, joinClaims } from "./claims.ts";
import type { ClientDeps } from "./fetch.ts";
import { knownOidcProvider, type OidcProvider } from "./provider.ts";
import { applyRoles, assertDomain, recordRefusal, requireRoles } from "./provisioning.ts";
import { notAuthenticated } from "./refusal.ts";
import { openTokens, sealTokens, type SessionTokens } from "./session_tokens.ts";

export type RecheckDeps =
  & ClientDeps
  & Pick<Deps, "accounts" | "anonymousLog" | "db" | "groupRoles" | "log" | "secrets">;

/** Parallel refreshes of several tabs are answered by one check. */
const CHECKED_MS = 10_000;

/** Least time between two checks of a session that is used without being refreshed. */
const AGAIN_MS = 60_000;

/**
 * Checks a session that began at an OpenID Connect provider; others are left alone. The session ends
 * if the provider no longer gives the user a role, or cannot be asked about them any more.
 *
 * @throws {AppError} `unauthorized` if the session has ended; `unavailable` if the provider cannot be
 * reached, which ends nothing.
 */
export async function recheckLogin(deps: RecheckDeps, sessionId: string): Promise<void> {
  const session = selectOidcSession(deps.db, sessionId);
  if (!session) return;
  // OpenID Connect is off there.
  if (deps.accounts.mode !== "users") return end(deps, session, "mode_key");
  const provider = knownOidcProvider(deps, session.providerId);
  if (!provider?.enabled || provider.issuer !== session.issuer) {
    return end(deps, session, "removed");
  }
  if (provider.rolesClaim === null) return;
  const elapsedMs = deps.now().getTime() - Date.parse(session.checkedAt);
  if (elapsedMs >= 0 && elapsedMs < CHECKED_MS) return;
  const { checks } = deps.oidc;
  const running = checks.get(sessionId) ??
    check(deps, provider, session).finally(() => checks.delete(sessionId));
  checks.set(sessionId, running);
  await running;
}

/**
 * Checks a session that is used without being refreshed, by a terminal, as often as refreshes would.
 *
 * @returns Starts a check that is due. To be called regularly, e.g. each second.
 */
export function createSessionWatch(deps: RecheckDeps, sessionId: string): () => void {
  let dueMs = 0;
  return () => {
    const atMs = deps.now().getTime();
    if (atMs < dueMs) return;
    const session = selectOidcSession(deps.db, sessionId);
    const next = session ? Date.parse(session.checkedAt) + ACCESS_TOKEN_S * 1000 : Infinity;
    dueMs = Math.max(next, atMs + AGAIN_MS);
    if (next > atMs) return;
    recheckLogin(deps, sessionId).catch((error) => {
      // The session was ended, or the provider cannot be asked.
      if (!(error instanceof AppError)) deps.log.error("session not checked", errorFields(error));
    });
  };
}

async function check(
  deps: RecheckDeps,
  provider: OidcProvider,
  session: OidcSession,
): Promise<void> {
  const { db, now, secrets } = deps;
  const { sessionId } = session;
  const userId = selectSession(db, sessionId)?.userId ?? "";
  try {
    const { claims, tokens } = await askProvider(deps, provider, session);
    const user = selectUser(db, userId);
    if (!user) return;
    assertDomain(provider, claims);
    const roles = requireRoles(deps, provider, claims);
    db.transaction(() => {
      applyRoles(deps, provider, user, roles);
      updateOidcSessionCheck(db, sessionId, {
        sealed: sealTokens(secrets, sessionId, tokens),
        checkedAt: now().toISOString(),
      });
    });
  } catch (error) {
    if (!(error instanceof SignInRefusal)) throw error;
    recordRefusal(deps, provider, userId, error);
    if (error.code !== "bad_gateway") return end(deps, session, error.reason, error);
    throw new AppError("unavailable", error.message, { cause: error });
  }
}

interface Confirmation {
  claims: Claims;
  tokens: SessionTokens;
}

/**
 * Reads the claims with a new access token, or with the old one while it is valid. Groups that came
 * in the ID token are only in a new ID token: the userinfo endpoint of such a provider would say
 * that the user has none.
 */
async function askProvider(
  deps: RecheckDeps,
  provider: OidcProvider,
  { subject, ...session }: OidcSession,
): Promise<Confirmation> {
  const tokens = openTokens(deps.secrets, session);
  if (!tokens) throw unverifiable("the tokens of the session cannot be decrypted");
  if (!hasRequested(tokens, provider)) {
    throw unverifiable("the provider has more scopes than the sign-in requested");
  }
  const { connectProvider } = await import("./client.ts");
  const client = await connectProvider(deps, provider);
  const { idToken, ...renewed } = tokens.refreshToken === null
    ? { ...tokens, idToken: null }
    : await client.refresh(tokens.refreshToken);
  const kept: SessionTokens = {
    accessToken: renewed.accessToken,
    refreshToken: renewed.refreshToken ?? tokens.refreshToken,
    idToken: tokens.idToken,
    scopes: tokens.scopes,
  };
  // The old refresh token may be used up, whatever fails below.
  const { sessionId, checkedAt } = session;
  const sealed = sealTokens(deps.secrets, sessionId, kept);
  updateOidcSessionCheck(deps.db, sessionId, { sealed, checkedAt });
  if (idToken && idToken.claims.sub !== subject) {
    throw notAuthenticated("subject_foreign", "The new ID token is for another user");
  }
  if (!idToken && await hasGroups(provider, tokens.idToken)) {
    throw unverifiable("the provider sends no new ID token; request the scope offline_access");
  }
  const asked = idToken && isComplete(provider, idToken.claims)
    ? undefined
    : await client.userInfo(renewed.accessToken, subject);
  const claims = idToken ? joinClaims(idToken.claims, asked) : asked;
  if (!claims) throw unverifiable("the provider has no userinfo endpoint");
  return {
    claims,
    tokens: { ...kept, idToken: idToken?.text ?? tokens.idToken },
  };
}

/** Whether the sign-in requested the scopes of now: claims of other ones are missing. */
function hasRequested({ scopes }: SessionTokens, provider: OidcProvider): boolean {
  if (scopes === undefined) return true;
  const requested = scopes.split(" ");
  return provider.scopes.split(" ").every((scope) => requested.includes(scope));
}

async function hasGroups({ rolesClaim }: OidcProvider, idToken: string): Promise<boolean> {
  const { decodeJwt } = await import("jose");
  return groupsAt(decodeJwt(idToken) as Claims, rolesClaim!).length > 0;
}

const unverifiable = (reason: string) =>
  notAuthenticated("unverifiable", `Roles cannot be checked again: ${reason}`);

function end(
  deps: RecheckDeps,
  { sessionId, providerId }: OidcSession,
  reason: string,
  cause?: unknown,
): never {
  deps.log.warn("session ended by identity provider", { sessionId, providerId, reason });
  revokeFamily(deps, sessionId);
  throw new AppError("unauthorized", "The identity provider has ended the session; sign in again", {
    cause,
  });
}

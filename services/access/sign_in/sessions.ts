/** Sessions: their start after authentication, and logging out. @module */

import { deleteExpiredLoginLinks } from "../../../db/login_links.ts";
import { deleteExpiredOidcRequests } from "../../../db/oidc_requests.ts";
import { deleteExpiredRefreshTokens } from "../../../db/refresh_tokens.ts";
import { deleteExpiredRevokedFamilies } from "../../../db/revoked_families.ts";
import { deleteExpiredSessions, insertSession } from "../../../db/sessions.ts";
import { updateUserLastLogin } from "../../../db/users.ts";
import type { Session } from "../accounts.ts";
import type { Caller, UserRole } from "../caller.ts";
import type { Client } from "../client.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { EmitDeps } from "../../events/emit.ts";
import type { LoginTerms, OpenLogin, PresentedTokens } from "./open_login.ts";
import { revokeFamiliesOfPage, revokeFamily } from "./families.ts";
import {
  accessTokenId,
  findRefreshToken,
  makeRefreshToken,
  storeRefreshToken,
} from "./refresh_tokens.ts";
import { rememberClient, reportSignIn, type SignIn } from "./sign_ins.ts";
import { accessTokenLifeS, signAccessToken } from "./tokens.ts";

/** The response to a login. */
export interface TokenPair {
  userId: string;
  accessToken: string;
  refreshToken: string;
  /** Remaining lifetime of the access token, in seconds. */
  expiresIn: number;
  role: UserRole;
  serverName: string;
}

/** A login that was just stored. */
export type NewLogin = OpenLogin & SignIn;

/**
 * Throws if the user may not log in from the caller's address. Called after authentication and
 * before anything is stored.
 */
export type Admit = (userId: string) => void;

export type SessionDeps = EmitDeps & Pick<Deps, "accounts" | "secrets">;

/**
 * Starts a login of an authenticated user. An earlier one of the same page ends.
 *
 * @param terms By default without an end, and for no page.
 * @throws {AppError} `unauthorized` if the user does not exist (any more), or the login has ended.
 */
export async function startSession(
  deps: SessionDeps,
  userId: string,
  client: Client,
  { endsAt = null, pageHash = null, ...others }: Partial<LoginTerms> = {},
): Promise<TokenPair> {
  const terms = { endsAt, pageHash, ...others };
  if (endsAt !== null && endsAt <= deps.now()) throw new AppError("unauthorized", ENDED);
  if (pageHash !== null) revokeFamiliesOfPage(deps, pageHash);
  const login = deps.db.transaction(() => storeLogin(deps, userId, client, terms));
  reportSignIn(deps, login);
  return await tokenPairOf(deps, login);
}

/**
 * Stores a login; see {@linkcode startSession}. Runs inside the caller's transaction, so that the
 * login is stored together with its cause. Call {@linkcode reportSignIn} after the commit.
 *
 * @throws {AppError} `unauthorized` if the user does not exist (any more).
 */
export function storeLogin(
  deps: Pick<SessionDeps, "db" | "accounts" | "now">,
  userId: string,
  client: Client,
  { endsAt, pageHash, hasSecondFactor = false, record = () => {} }: LoginTerms,
): NewLogin {
  const { db, accounts, now } = deps;
  const terms = { endsAt, pageHash };
  const issuedAt = now();
  const session = { userId, familyId: crypto.randomUUID() };
  const role = accounts.roleOf(session);
  if (!role) throw new AppError("unauthorized", "The user no longer exists");
  const createdAt = issuedAt.toISOString();
  updateUserLastLogin(db, userId, createdAt);
  const refreshToken = makeRefreshToken();
  const expiresAt = storeRefreshToken(db, refreshToken, session, issuedAt, terms);
  const { familyId: id } = session;
  insertSession(db, {
    ...{ id, userId, ...client, createdAt, lastUsedAt: createdAt, expiresAt, hasSecondFactor },
  });
  record(session);
  const isNewClient = rememberClient(deps, userId, client);
  return { session, role, refreshToken, issuedAt, ...terms, client, isNewClient };
}

const ENDED = "The session at the identity provider has ended";

/** The tokens of a login that was stored or renewed; always the same for the same login. */
export async function tokenPairOf(
  deps: Pick<SessionDeps, "config" | "secrets" | "now">,
  { session, role, refreshToken, issuedAt, endsAt }: OpenLogin,
): Promise<TokenPair> {
  const id = accessTokenId(refreshToken);
  const elapsedS = Math.floor((deps.now().getTime() - issuedAt.getTime()) / 1000);
  return {
    userId: session.userId,
    accessToken: await signAccessToken(deps, session, role, { id, issuedAt, endsAt }),
    refreshToken,
    expiresIn: accessTokenLifeS(issuedAt, endsAt) - elapsedS,
    role,
    serverName: deps.config.serverName,
  };
}

export function logOut(deps: Pick<Deps, "db" | "accounts" | "now">, { familyId }: Caller): void {
  revokeFamily(deps, familyId);
}

/**
 * Revokes the login of a browser.
 *
 * @returns The user's id.
 * @throws {AppError} `unauthorized` for an unknown refresh token.
 * @throws {ThrottledError} After too many failures from the address.
 */
export function logOutBrowser(
  deps: Pick<Deps, "db" | "accounts" | "throttle" | "now">,
  presented: PresentedTokens,
  address: string,
): string {
  const attempt = deps.throttle.begin(address);
  const session = endSession(deps, presented);
  if (!session) throw new AppError("unauthorized", "The session has ended");
  attempt.succeeded();
  return session.userId;
}

/**
 * Revokes the login of a client's refresh token, even of a used one.
 *
 * @returns The login; `undefined` for an unknown token.
 */
export function endSession(
  deps: Pick<Deps, "db" | "accounts" | "now">,
  presented: PresentedTokens,
): Session | undefined {
  const found = findRefreshToken(deps.db, presented)?.found;
  if (found) revokeFamily(deps, found.familyId);
  return found;
}

/** Deletes expired sessions, refresh tokens, revocations and unfinished sign-ins. @returns The number of deleted rows. */
export function sweepExpiredTokens({ db, now }: Pick<Deps, "db" | "now">): number {
  const at = now().toISOString();
  return deleteExpiredRefreshTokens(db, at) + deleteExpiredSessions(db, at) +
    deleteExpiredRevokedFamilies(db, at) + deleteExpiredOidcRequests(db, at) +
    deleteExpiredLoginLinks(db, at);
}

/** Sessions: logging in and out. @module */

import { deleteExpiredLoginLinks } from "../../../db/login_links.ts";
import { deleteExpiredOidcRequests } from "../../../db/oidc_requests.ts";
import { deleteExpiredRefreshTokens } from "../../../db/refresh_tokens.ts";
import { deleteExpiredRevokedFamilies } from "../../../db/revoked_families.ts";
import { deleteExpiredSessions, insertSession } from "../../../db/sessions.ts";
import { selectPasswordHash, selectUserByEmail, updateUserLastLogin } from "../../../db/users.ts";
import { KEY_USER, type Session } from "../accounts.ts";
import type { Caller, UserRole } from "../caller.ts";
import type { Client } from "../client.ts";
import { sha256 } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { EmitDeps } from "../../events/emit.ts";
import type { LoginAttempt } from "./login_throttle.ts";
import type { OpenLogin, PresentedTokens } from "./open_login.ts";
import { isApiKey } from "./api_key.ts";
import { emailKey } from "../users/emails.ts";
import { revokeFamiliesOfPage, revokeFamily } from "./families.ts";
import {
  accessTokenId,
  findRefreshToken,
  makeRefreshToken,
  storeRefreshToken,
} from "./refresh_tokens.ts";
import { redeemLoginLink } from "./login_link.ts";
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

/** Terms of a login and all its renewals. */
type LoginTerms = Pick<OpenLogin, "endsAt" | "pageHash">;

/** A login that was just stored. */
export type NewLogin = OpenLogin & SignIn;

/**
 * Throws if the user may not log in from the caller's address. Called after authentication and
 * before anything is stored.
 */
export type Admit = (userId: string) => void;

type SessionDeps = EmitDeps & Pick<Deps, "accounts" | "secrets">;
export type LoginDeps =
  & SessionDeps
  & Pick<Deps, "anonymousLog" | "completedLogins" | "passwords" | "throttle">;

/**
 * Key mode: exchanges the API key for tokens. Failures are counted per address only, because the
 * key is too long to be guessed from many addresses and its owner must not be locked out.
 *
 * @throws {AppError} `not_found` in users mode; `unauthorized` for a wrong key.
 * @throws {ThrottledError} After too many failures.
 */
export async function exchangeApiKey(
  deps: LoginDeps,
  { apiKey }: { apiKey: string },
  client: Client,
  admit: Admit,
  pageHash: string | null = null,
): Promise<TokenPair> {
  if (deps.accounts.mode !== "key") {
    throw new AppError("not_found", "Key mode is off (AUTH_MODE=users); use POST /auth/login");
  }
  const { address } = client;
  const attempt = deps.throttle.begin(address);
  if (!await isApiKey(deps, apiKey)) {
    deps.anonymousLog.warn("wrong API key", { address });
    throw new AppError("unauthorized", "The API key is wrong");
  }
  attempt.succeeded();
  admit(KEY_USER);
  deps.log.info("login", { userId: KEY_USER, address });
  return await startSession(deps, KEY_USER, client, { pageHash });
}

/**
 * Users mode: exchanges email and password for tokens. The response and its time are the same for a
 * wrong password and for an unknown account.
 *
 * @throws {AppError} `not_found` in key mode; `forbidden` with `PASSWORD_LOGIN=off`; `unauthorized`
 * for a wrong email or password; `unavailable` when too many logins are in progress.
 * @throws {ThrottledError} After too many failures.
 */
export async function logIn(
  deps: LoginDeps,
  { email, password }: { email: string; password: string },
  client: Client,
  admit: Admit,
  pageHash: string | null = null,
): Promise<TokenPair> {
  const { db, log, throttle } = deps;
  const { address } = client;
  if (deps.accounts.mode !== "users") {
    throw new AppError("not_found", "Users mode is off (AUTH_MODE=key); use POST /auth/token");
  }
  // Before the password is checked, so that the answer is the same for each.
  if (deps.config.passwordLogin === "off") {
    throw new AppError(
      "forbidden",
      "Sign-in with a password is disabled (PASSWORD_LOGIN=off); use an identity provider",
    );
  }
  const account = emailKey(email);
  const user = selectUserByEmail(db, account);
  const stored = selectPasswordHash(db, user?.id ?? "");
  let attempt: LoginAttempt | undefined;
  const isRight = await deps.passwords.verify(password, stored, () => {
    attempt = throttle.begin(address, account);
  });

  // The user may have been deleted, or the password changed, while it was checked.
  if (!isRight || !user || selectPasswordHash(db, user.id) !== stored) {
    deps.anonymousLog.warn("login refused", { userId: user?.id, address });
    throw new AppError("unauthorized", "The email or the password is wrong");
  }
  attempt?.succeeded();
  admit(user.id);
  throttle.remember(address, account);
  log.info("login", { userId: user.id, address });
  return await startSession(deps, user.id, client, { pageHash });
}

/**
 * Hands a login that an identity provider has completed to the browser that began it. Pages of other
 * sites could otherwise sign a browser in as another user.
 *
 * @param loginCookies Those of the browser; it got one of them when the login began.
 * @param pageHash The hash of the secret of the page that began it.
 * @throws {AppError} `unauthorized` for an unknown, used or expired code, and for another browser.
 * @throws {ThrottledError} After too many failures.
 */
async function collectLogin(
  deps: LoginDeps,
  { code, loginCookies }: { code: string; loginCookies: readonly string[] },
  { address }: Client,
  admit: Admit,
  pageHash: string,
): Promise<TokenPair> {
  const attempt = deps.throttle.begin(address);
  const completed = deps.completedLogins.redeem(code);
  const isOfBrowser = completed?.login.pageHash === pageHash &&
    loginCookies.some((cookie) => sha256(cookie) === completed.browserHash);
  if (!completed || !isOfBrowser) {
    throw new AppError(
      "unauthorized",
      "The sign-in took too long or was begun elsewhere; try again",
    );
  }
  attempt.succeeded();
  const { session, refreshToken } = completed.login;
  revokeFamiliesOfPage(deps, pageHash, session.familyId);
  try {
    admit(session.userId);
  } catch (error) {
    endSession(deps, { tokens: [refreshToken], pageHash });
    throw error;
  }
  return await tokenPairOf(deps, completed.login);
}

/**
 * Signs in a page with a link that an operator of the host has created.
 *
 * @throws {AppError} `unauthorized` for an unknown, used or expired link.
 * @throws {ThrottledError} After too many failures.
 */
async function followLink(
  deps: LoginDeps,
  { link }: { link: string },
  client: Client,
  admit: Admit,
  pageHash: string,
): Promise<TokenPair> {
  const { address } = client;
  const attempt = deps.throttle.begin(address);
  const userId = redeemLoginLink(deps, link);
  if (userId === undefined) {
    throw new AppError("unauthorized", "The link was used or has expired; create another one");
  }
  attempt.succeeded();
  admit(userId);
  deps.log.info("login by link", { userId, address });
  return await startSession(deps, userId, client, { pageHash });
}

/**
 * Logs in a page with the credentials of the current mode: the API key, or email and password; in
 * each mode with the code of a completed login, or a link of the host's operator.
 *
 * @param pageHash The hash of the page's secret.
 * @throws {AppError} `invalid` for credentials of the other mode; else as for
 * {@linkcode exchangeApiKey} and {@linkcode logIn}.
 */
export async function signIn(
  deps: LoginDeps,
  credentials:
    | { apiKey: string }
    | { email: string; password: string }
    | { code: string; loginCookies: readonly string[] }
    | { link: string },
  client: Client,
  admit: Admit,
  pageHash: string,
): Promise<TokenPair> {
  const { mode } = deps.accounts;
  if ("code" in credentials) return await collectLogin(deps, credentials, client, admit, pageHash);
  if ("link" in credentials) return await followLink(deps, credentials, client, admit, pageHash);
  if ("apiKey" in credentials) {
    if (mode === "key") return await exchangeApiKey(deps, credentials, client, admit, pageHash);
    throw new AppError(
      "invalid",
      "body: Key mode is off (AUTH_MODE=users); send email and password",
    );
  }
  if (mode === "users") return await logIn(deps, credentials, client, admit, pageHash);
  throw new AppError("invalid", "body: Users mode is off (AUTH_MODE=key); send apiKey");
}

/**
 * Starts a login of an authenticated user. An earlier one of the same page ends.
 *
 * @param terms For `endsAt` (by default none) and `pageHash` (by default for no page) see `OpenLogin`.
 * @throws {AppError} `unauthorized` if the user does not exist (any more).
 */
export async function startSession(
  deps: SessionDeps,
  userId: string,
  client: Client,
  { endsAt = null, pageHash = null }: Partial<LoginTerms> = {},
): Promise<TokenPair> {
  const terms = { endsAt, pageHash };
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
  terms: LoginTerms,
): NewLogin {
  const { db, accounts, now } = deps;
  const issuedAt = now();
  const session = { userId, familyId: crypto.randomUUID() };
  const role = accounts.roleOf(session);
  if (!role) throw new AppError("unauthorized", "The user no longer exists");
  const createdAt = issuedAt.toISOString();
  updateUserLastLogin(db, userId, createdAt);
  const refreshToken = makeRefreshToken();
  const expiresAt = storeRefreshToken(db, refreshToken, session, issuedAt, terms);
  const { familyId: id } = session;
  insertSession(db, { id, userId, ...client, createdAt, lastUsedAt: createdAt, expiresAt });
  const isNewClient = rememberClient(deps, userId, client);
  return { session, role, refreshToken, issuedAt, ...terms, client, isNewClient };
}

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

/**
 * Logging in, staying in, logging out.
 *
 * @module
 */

import { nodeCrypto, randomText } from "../builtins.ts";
import {
  deleteExpiredRefreshTokens,
  insertRefreshToken,
  selectRefreshToken,
  updateRefreshTokenSpent,
} from "../../db/ce/refresh_tokens.ts";
import { deleteExpiredRevokedFamilies } from "../../db/ce/revoked_families.ts";
import {
  selectPasswordHash,
  selectUser,
  selectUserByEmail,
  updateUserLastLogin,
} from "../../db/ce/users.ts";
import { KEY_USER, type Session } from "../accounts.ts";
import type { Caller, UserRole } from "../caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { LoginAttempt } from "../login_throttle.ts";
import { isApiKey } from "./api_key.ts";
import { emailKey } from "./emails.ts";
import { revokeFamily } from "./families.ts";
import { verifyPassword } from "./passwords.ts";
import { accessTokenLifeS, signAccessToken } from "./tokens.ts";

/** How long a refresh token can be used. */
const REFRESH_TOKEN_MS = 30 * 24 * 60 * 60 * 1000;

const REFRESH_TOKEN_BYTES = 32;

/** What a login is answered with. */
export interface TokenPair {
  /** Whose login it is; told to the logs, and no part of the answer. */
  userId: string;
  accessToken: string;
  refreshToken: string;
  /** How long the access token is good, in seconds. */
  expiresIn: number;
  role: UserRole;
  serverName: string;
}

/** A login that is stored, and the refresh token that is nowhere else. */
export interface OpenLogin {
  session: Session;
  role: UserRole;
  refreshToken: string;
  /** When it ends, however often it is renewed; `null` for one that can go on. */
  endsAt: Date | null;
}

/** What a login may be told when it begins. */
export interface LoginTerms {
  /** When it ends at the latest, e.g. because somebody else vouches for it until then only. */
  endsAt?: Date;
}

type SessionDeps = Pick<Deps, "config" | "db" | "accounts" | "secrets" | "now">;
type LoginDeps = SessionDeps & Pick<Deps, "throttle" | "log">;

/**
 * Key mode: exchanges the API key for tokens. Its failures count for the address only; a key is
 * too long to be guessed from many of them, and nobody shall be able to lock its owner out.
 *
 * @throws {AppError} `not_found` in users mode; `unauthorized` for a wrong key.
 * @throws {ThrottledError} After too many failures.
 */
export async function exchangeApiKey(
  deps: LoginDeps,
  { apiKey }: { apiKey: string },
  address: string,
): Promise<TokenPair> {
  if (deps.config.authMode !== "key") {
    throw new AppError("not_found", "Key mode is off (AUTH_MODE=users); use POST /auth/login");
  }
  const attempt = deps.throttle.begin(address);
  if (!await isApiKey(deps, apiKey)) {
    deps.log.warn("wrong API key", { address });
    throw new AppError("unauthorized", "The API key is wrong");
  }
  attempt.succeeded();
  deps.log.info("login", { userId: KEY_USER, address });
  return await startSession(deps, KEY_USER);
}

/**
 * Users mode: exchanges email and password for tokens. What it says, and how long it takes, is
 * the same for a wrong password and for an account that does not exist.
 *
 * @throws {AppError} `not_found` in key mode; `unauthorized` for a wrong email or password;
 * `unavailable` when too many others log in.
 * @throws {ThrottledError} After too many failures.
 */
export async function logIn(
  deps: LoginDeps,
  { email, password }: { email: string; password: string },
  address: string,
): Promise<TokenPair> {
  const { db, log, throttle } = deps;
  if (deps.config.authMode !== "users") {
    throw new AppError("not_found", "Users mode is off (AUTH_MODE=key); use POST /auth/token");
  }
  const account = emailKey(email);
  const user = selectUserByEmail(db, account);
  const stored = selectPasswordHash(db, user?.id ?? "");
  let attempt: LoginAttempt | undefined;
  const right = await verifyPassword(password, stored, () => {
    attempt = throttle.begin(address, account);
  });

  // The user may have been deleted, or the password changed, while it was checked.
  if (!right || !user || selectPasswordHash(db, user.id) !== stored) {
    log.warn("login refused", { userId: user?.id, address });
    throw new AppError("unauthorized", "The email or the password is wrong");
  }
  attempt?.succeeded();
  throttle.remember(address, account);
  log.info("login", { userId: user.id, address });
  return await startSession(deps, user.id);
}

/**
 * Begins a login of a user whose identity is proven. None of its tokens, nor of those that renew
 * it, outlives `endsAt`.
 *
 * @throws {AppError} `unauthorized` when there is no such user (any more).
 */
export async function startSession(
  deps: SessionDeps,
  userId: string,
  terms: LoginTerms = {},
): Promise<TokenPair> {
  const login = deps.db.transaction(() => storeLogin(deps, userId, terms));
  return await tokenPairOf(deps, login);
}

/**
 * The part of {@linkcode startSession} that is stored. Runs inside the caller's transaction, so
 * that what the login follows from is stored with it or not at all.
 *
 * @throws {AppError} `unauthorized` when there is no such user (any more).
 */
export function storeLogin(
  deps: Pick<SessionDeps, "db" | "accounts" | "now">,
  userId: string,
  { endsAt }: LoginTerms = {},
): OpenLogin {
  const { db, accounts, now } = deps;
  const session = { userId, familyId: crypto.randomUUID() };
  const role = accounts.roleOf(session);
  if (!role) throw new AppError("unauthorized", "The user does not exist any more");
  updateUserLastLogin(db, userId, now().toISOString());
  const refreshToken = storeRefreshToken(deps, session, endsAt ?? null);
  return { session, role, refreshToken, endsAt: endsAt ?? null };
}

/** The tokens of a login that was just stored or renewed. */
export async function tokenPairOf(
  deps: Pick<SessionDeps, "config" | "secrets" | "now">,
  { session, role, refreshToken, endsAt }: OpenLogin,
): Promise<TokenPair> {
  return {
    userId: session.userId,
    accessToken: await signAccessToken(deps, session, role, endsAt),
    refreshToken,
    expiresIn: accessTokenLifeS(deps.now(), endsAt),
    role,
    serverName: deps.config.serverName,
  };
}

/**
 * Exchanges a refresh token for a new pair and spends it. A spent one that comes again was copied
 * by somebody: then its whole family ends, the access tokens included, for nobody can tell which
 * of the two is the thief.
 *
 * @throws {AppError} `unauthorized` for a token that is unknown, spent, revoked or expired.
 * @throws {ThrottledError} After too many failures from the address.
 */
export async function refreshSession(
  deps: LoginDeps,
  { refreshToken }: { refreshToken: string },
  address: string,
): Promise<TokenPair> {
  const { db, log, now, throttle, accounts } = deps;
  const attempt = throttle.begin(address);
  const tokenHash = hashOf(refreshToken);
  const found = selectRefreshToken(db, tokenHash);
  if (!found) throw refreshRefused();
  if (found.spentAt !== null) {
    revokeFamily(deps, found.familyId);
    log.warn("refresh token used twice; its login was ended", { userId: found.userId, address });
    throw new ReusedTokenError(found.userId);
  }
  const at = now().toISOString();
  const role = accounts.roleOf(found);
  if (found.revokedAt !== null || found.expiresAt <= at || !role) throw refreshRefused();

  const endsAt = found.endsAt === null ? null : new Date(found.endsAt);
  const next = db.transaction(() => {
    if (!updateRefreshTokenSpent(db, tokenHash, at)) throw refreshRefused();
    return storeRefreshToken(deps, found, endsAt);
  });
  attempt.succeeded();
  const user = selectUser(db, found.userId);
  if (user) throttle.remember(address, emailKey(user.email));
  return await tokenPairOf(deps, { session: found, role, refreshToken: next, endsAt });
}

/** Ends the caller's own login. */
export function logOut(deps: Pick<Deps, "db" | "accounts" | "now">, { familyId }: Caller): void {
  revokeFamily(deps, familyId);
}

/** Forgets the tokens and revocations whose time is over. @returns How many. */
export function sweepExpiredTokens({ db, now }: Pick<Deps, "db" | "now">): number {
  const at = now().toISOString();
  return deleteExpiredRefreshTokens(db, at) + deleteExpiredRevokedFamilies(db, at);
}

/** @returns The token itself, which is nowhere else from here on. */
function storeRefreshToken(
  { db, now }: Pick<Deps, "db" | "now">,
  { userId, familyId }: Session,
  endsAt: Date | null,
): string {
  const token = randomText(REFRESH_TOKEN_BYTES);
  const expiresAtMs = now().getTime() + REFRESH_TOKEN_MS;
  insertRefreshToken(db, {
    tokenHash: hashOf(token),
    familyId,
    userId,
    createdAt: now().toISOString(),
    expiresAt: new Date(Math.min(expiresAtMs, endsAt?.getTime() ?? Infinity)).toISOString(),
    endsAt: endsAt?.toISOString() ?? null,
  });
  return token;
}

/** Without a salt: 256 random bits cannot be found by trying. */
function hashOf(token: string): string {
  return nodeCrypto().createHash("sha256").update(token).digest("base64url");
}

const REFUSED = "The refresh token is not valid (any more); log in again";

const refreshRefused = () => new AppError("unauthorized", REFUSED);

/** Says no more to who brought it than the others; the logs are told whose it was. */
export class ReusedTokenError extends AppError {
  constructor(readonly userId: string) {
    super("unauthorized", REFUSED);
  }
}

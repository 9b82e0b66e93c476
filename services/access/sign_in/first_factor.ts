/** The first factor of a sign-in: API key, password, or a login at an identity provider. @module */

import { selectPasswordHash, selectUserByEmail } from "../../../db/users.ts";
import { sha256 } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { KEY_USER } from "../accounts.ts";
import type { Client } from "../client.ts";
import { emailKey } from "../users/emails.ts";
import { assertNotShutOut } from "./external_users.ts";
import { isApiKey } from "./api_key.ts";
import { redeemLoginLink } from "./login_link.ts";
import type { LoginAttempt } from "./login_throttle.ts";
import { continueSignIn, type SecondStepDeps, type SignInResult } from "./second_step.ts";
import { type Admit, startSession, type TokenPair } from "./sessions.ts";

type FirstFactorDeps =
  & SecondStepDeps
  & Pick<Deps, "anonymousLog" | "completedLogins" | "passwords" | "throttle">;

/**
 * Key mode: exchanges the API key for tokens. Failures are counted per address only, because the
 * key is too long to be guessed from many addresses and its owner must not be locked out.
 *
 * @throws {AppError} `not_found` in users mode; `unauthorized` for a wrong key.
 * @throws {ThrottledError} After too many failures.
 */
export async function exchangeApiKey(
  deps: FirstFactorDeps,
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
 * @throws {AppError} `not_found` in key mode; `forbidden` with `PASSWORD_LOGIN=off`, and if the
 * user's identity provider has taken the role away; `unauthorized` for a wrong email or password; `unavailable` when too many logins are in progress.
 * @throws {ThrottledError} After too many failures.
 */
export async function logIn(
  deps: FirstFactorDeps,
  { email, password }: { email: string; password: string },
  client: Client,
  admit: Admit,
  pageHash: string | null = null,
): Promise<SignInResult> {
  const { db, throttle } = deps;
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
  assertNotShutOut(deps, user.id);
  const isValid = () => selectPasswordHash(db, user.id) === stored;
  const proved = { userId: user.id, endsAt: null, pageHash, isValid };
  return await continueSignIn(deps, proved, client);
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
  deps: FirstFactorDeps,
  { code, loginCookies }: { code: string; loginCookies: readonly string[] },
  client: Client,
  admit: Admit,
  pageHash: string,
): Promise<SignInResult> {
  const attempt = deps.throttle.begin(client.address);
  const completed = deps.completedLogins.redeem(code);
  const isOfBrowser = completed?.pageHash === pageHash &&
    loginCookies.some((cookie) => sha256(cookie) === completed.browserHash);
  if (!completed || !isOfBrowser || completed.isValid?.() === false) {
    throw new AppError(
      "unauthorized",
      "The sign-in took too long or was begun elsewhere; try again",
    );
  }
  attempt.succeeded();
  const { browserHash: _, ...proved } = completed;
  admit(proved.userId);
  return await continueSignIn(deps, proved, client);
}

/**
 * Signs in a page with a link that an operator of the host has created.
 *
 * @throws {AppError} `unauthorized` for an unknown, used or expired link.
 * @throws {ThrottledError} After too many failures.
 */
async function followLink(
  deps: FirstFactorDeps,
  { link }: { link: string },
  client: Client,
  admit: Admit,
  pageHash: string,
): Promise<SignInResult> {
  const { address } = client;
  const attempt = deps.throttle.begin(address);
  const userId = redeemLoginLink(deps, link);
  if (userId === undefined) {
    throw new AppError("unauthorized", "The link was used or has expired; create another one");
  }
  attempt.succeeded();
  admit(userId);
  deps.log.info("login link used", { userId, address });
  return await continueSignIn(deps, { userId, endsAt: null, pageHash }, client);
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
  deps: FirstFactorDeps,
  credentials:
    | { apiKey: string }
    | { email: string; password: string }
    | { code: string; loginCookies: readonly string[] }
    | { link: string },
  client: Client,
  admit: Admit,
  pageHash: string,
): Promise<SignInResult> {
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

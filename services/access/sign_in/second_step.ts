/**
 * The second step of a sign-in, the same for all ways to prove the first factor. Nothing of the login
 * is stored before both are proved.
 *
 * @module
 */

import { hasSecondFactor } from "../../../db/second_factors.ts";
import { selectUser } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Client } from "../client.ts";
import { type CodeDeps, type GivenCode, useCode } from "../factors/codes.ts";
import { methodsOf, type MfaMethod } from "../factors/factors.ts";
import { emailKey } from "../users/emails.ts";
import type { PendingLogin, ProvedLogin } from "./open_login.ts";
import { type Admit, type SessionDeps, startSession, type TokenPair } from "./sessions.ts";

/** The response to a sign-in that needs a second factor. */
export interface MfaRequired {
  userId: string;
  mfaRequired: true;
  mfaToken: string;
  methods: MfaMethod[];
}

export type SignInResult = TokenPair | MfaRequired;

export type SecondStepDeps = SessionDeps & Pick<Deps, "pendingLogins" | "throttle">;

/** Whether the login needs another factor before it is stored. */
export const needsSecondStep = (
  db: Deps["db"],
  { userId, hasSecondFactor: isDone = false }: ProvedLogin,
): boolean => !isDone && hasSecondFactor(db, userId);

/**
 * Starts the login of a user who has proved a first factor, or asks for the second one if the account
 * has one.
 *
 * @throws {AppError} `unauthorized` if the user does not exist (any more).
 */
export async function continueSignIn(
  deps: SecondStepDeps,
  proved: ProvedLogin,
  client: Client,
): Promise<SignInResult> {
  const { accounts, db, pendingLogins } = deps;
  const { userId } = proved;
  if (!needsSecondStep(db, proved)) return await finishSignIn(deps, proved, client);
  const isOpen = accounts.isOpenOf([userId]);
  const isValid = () => isOpen() && proved.isValid?.() !== false;
  return {
    userId,
    mfaRequired: true,
    mfaToken: pendingLogins.issue({ ...proved, isValid, address: client.address }, userId),
    methods: methodsOf(db, userId),
  };
}

/** Starts a login with all factors that it needs. */
export async function finishSignIn(
  deps: SecondStepDeps,
  { userId, isValid: _, ...terms }: ProvedLogin,
  client: Client,
): Promise<TokenPair> {
  const { address } = client;
  const user = selectUser(deps.db, userId);
  if (user) deps.throttle.remember(address, emailKey(user.email));
  deps.log.info("login", { userId, address });
  return await startSession(deps, userId, client, terms);
}

/**
 * A sign-in that waits for its second factor.
 *
 * @param pageHash The hash of the secret of the page; `null` for other clients.
 * @throws {AppError} `unauthorized` for a token that is unknown, used or expired, and for another page
 * or client than that of the first step.
 * @throws {ThrottledError} After too many failures from the address.
 */
export function findPendingLogin(
  { pendingLogins, throttle }: Pick<Deps, "pendingLogins" | "throttle">,
  mfaToken: string,
  { address }: Client,
  pageHash: string | null,
): PendingLogin {
  const attempt = throttle.begin(address);
  const pending = pendingLogins.find(mfaToken);
  const isBoundHere = pending?.pageHash === pageHash &&
    (pageHash !== null || pending.address === address);
  if (!pending || !isBoundHere || pending.isValid?.() === false) {
    throw new AppError("unauthorized", "The sign-in took too long or was begun elsewhere; sign in");
  }
  attempt.succeeded();
  return pending;
}

/**
 * Finishes a sign-in with its second factor. The token is used up by a right one; a wrong one can be
 * corrected.
 *
 * @throws {AppError} As {@linkcode findPendingLogin}; `unauthorized` for a wrong factor.
 * @throws {ThrottledError} After too many wrong codes.
 */
export async function completeSecondStep(
  deps: SecondStepDeps & CodeDeps,
  { mfaToken, ...given }: { mfaToken: string } & GivenCode,
  client: Client,
  { pageHash, admit }: { pageHash: string | null; admit: Admit },
): Promise<TokenPair> {
  const pending = findPendingLogin(deps, mfaToken, client, pageHash);
  const { userId } = pending;
  admit(userId);
  useCode(deps, { userId, address: client.address }, given, "unauthorized");
  return await redeemPending(deps, mfaToken, client);
}

/** Starts the login; of parallel requests with the same token, one gets it. */
export async function redeemPending(
  deps: SecondStepDeps,
  mfaToken: string,
  client: Client,
): Promise<TokenPair> {
  const pending = deps.pendingLogins.redeem(mfaToken);
  if (!pending || pending.isValid?.() === false) {
    throw new AppError("unauthorized", "This sign-in has been completed already, or has ended");
  }
  const { address: _, ...proved } = pending;
  return await finishSignIn(deps, proved, client);
}

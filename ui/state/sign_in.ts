/** Sign-ins of this browser, which the first view does not need. @module */

import type {
  BrowserSession,
  Credentials,
  MfaRequired,
  PasskeyCredential,
  PasskeyRequest,
  PasskeyRequestOptions,
  SecondFactor,
} from "../api/types.ts";
import { usePasskey } from "./passkeys.ts";
import { call, startSession } from "./session.ts";

/**
 * @returns What the second step needs; `undefined` for an account without a second factor.
 * @throws {Error} With the service's sentence.
 */
export async function signIn(credentials: Credentials): Promise<MfaRequired | undefined> {
  const answer = await answerOf(call("POST", "auth/session", credentials));
  if ("mfaRequired" in answer) return answer as MfaRequired;
  startSession(answer as BrowserSession);
  return undefined;
}

/** Signs in with a passkey alone. @throws {Error} With a sentence. */
export async function signInWithPasskey(): Promise<void> {
  const credential = await askForPasskey({});
  startSession(await answerOf(call("POST", "auth/passkey", { credential })) as BrowserSession);
}

/** A use of a passkey, for a sign-in or, with its token, for the second step of one. */
export async function askForPasskey(of: PasskeyRequest): Promise<PasskeyCredential> {
  const options = await answerOf(call("POST", "auth/passkey/options", of));
  return await usePasskey(options as PasskeyRequestOptions);
}

/** Sends the second factor of a sign-in. @throws {Error} With the service's sentence. */
export async function completeSignIn(factor: SecondFactor): Promise<void> {
  startSession(await answerOf(call("POST", "auth/mfa", factor)) as BrowserSession);
}

async function answerOf(request: Promise<Response>): Promise<object> {
  const response = await request;
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

/** Sign-in with a passkey: alone, or as the second factor. @module */

import {
  type Passkey,
  selectPasskeyByCredential,
  selectPasskeys,
  updatePasskeyUse,
} from "../../../db/passkeys.ts";
import { hasProviderIdentity } from "../../../db/provider_identities.ts";
import { selectPasswordHash } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { addressGroup } from "../address_group.ts";
import type { Client } from "../client.ts";
import { CHALLENGE_MS, type PasskeyChallenge, takeChallenge } from "../factors/challenges.ts";
import { descriptorOf, userHandleOf } from "../factors/own_passkeys.ts";
import type { RelyingParty } from "../factors/relying_party.ts";
import { type UsedCredential, verifyUse } from "../factors/webauthn.ts";
import { assertUsersMode } from "../users/users.ts";
import { assertNotShutOut } from "./external_users.ts";
import {
  findPendingLogin,
  finishSignIn,
  redeemPending,
  type SecondStepDeps,
} from "./second_step.ts";
import type { Admit, TokenPair } from "./sessions.ts";

type PasskeyDeps = SecondStepDeps & Pick<Deps, "codeThrottle" | "passkeyChallenges">;

/** The page or the other client that signs in. */
interface Browser {
  /** The hash of the secret of the page; `null` for other clients. */
  pageHash: string | null;
  party: RelyingParty;
}

/**
 * Options for the browser to use a passkey (PublicKeyCredentialRequestOptionsJSON). Without a second
 * step they name no account, and the authenticator has to recognize the user.
 *
 * @throws {AppError} `not_found` in key mode without a second step; `invalid` without a page or a
 * second step; `unauthorized` for a second step that has ended or was begun elsewhere.
 */
export function signInOptions(
  deps: PasskeyDeps,
  mfaToken: string | undefined,
  client: Client,
  { pageHash, party: { rpId } }: Browser,
) {
  const options = { rpId, timeout: CHALLENGE_MS };
  const issue = (challenge: PasskeyChallenge, of: string) =>
    deps.passkeyChallenges.issue(challenge, of);
  if (mfaToken === undefined) {
    assertUsersMode(deps.accounts);
    const purpose = { purpose: "sign-in" as const, pageHash: requirePage(pageHash) };
    const challenge = issue(purpose, addressGroup(client.address));
    return { ...options, challenge, userVerification: "required" as const, allowCredentials: [] };
  }
  const { userId } = findPendingLogin(deps, mfaToken, client, pageHash);
  return {
    ...options,
    challenge: issue({ purpose: "second step", mfaToken }, userId),
    userVerification: "discouraged" as const,
    allowCredentials: selectPasskeys(deps.db, userId)
      .filter((passkey) => passkey.rpId === rpId).map(descriptorOf),
  };
}

/**
 * Signs in a page with a passkey alone, which counts as both factors.
 *
 * @throws {AppError} `not_found` in key mode; `invalid` without a page; `unauthorized` for a passkey
 * that is unknown, of another host or page, has signed the challenge before, or did not recognize the
 * user; `forbidden` for an account that an identity provider decides about.
 * @throws {ThrottledError} After too many failures from the address.
 */
export async function signInWithPasskey(
  deps: PasskeyDeps,
  credential: UsedCredential,
  client: Client,
  { pageHash, party }: Browser,
  admit: Admit,
): Promise<TokenPair> {
  assertUsersMode(deps.accounts);
  const attempt = deps.throttle.begin(client.address);
  const expected: PasskeyChallenge = { purpose: "sign-in", pageHash: requirePage(pageHash) };
  const { userId } = await usePasskey(deps, credential, { party, expected, userVerified: true });
  attempt.succeeded();
  admit(userId);
  assertSignsInAlone(deps, userId);
  assertNotShutOut(deps, userId);
  return await finishSignIn(deps, { userId, endsAt: null, pageHash }, client);
}

/**
 * A passkey replaces the password. Of an account that signs in at an identity provider only, it is the
 * second factor: it would outlive the account at the provider.
 *
 * @throws {AppError} `forbidden`.
 */
function assertSignsInAlone({ config, db }: Pick<Deps, "config" | "db">, userId: string): void {
  const isOfProvider = selectPasswordHash(db, userId) === null ||
    config.passwordLogin === "off" && hasProviderIdentity(db, userId);
  if (!isOfProvider) return;
  throw new AppError(
    "forbidden",
    "This account signs in at its identity provider; the passkey is its second factor",
  );
}

/**
 * Finishes a sign-in with a passkey of the account as its second factor.
 *
 * @throws {AppError} `unauthorized` as for {@linkcode signInWithPasskey}, for a passkey of another
 * account, and for a second step that has ended or was begun elsewhere.
 * @throws {ThrottledError} After too many failures.
 */
export async function completeWithPasskey(
  deps: PasskeyDeps,
  { mfaToken, passkey: credential }: { mfaToken: string; passkey: UsedCredential },
  client: Client,
  { pageHash, party }: Browser,
  admit: Admit,
): Promise<TokenPair> {
  const { userId } = findPendingLogin(deps, mfaToken, client, pageHash);
  admit(userId);
  const attempt = deps.codeThrottle.begin(client.address, userId);
  await usePasskey(deps, credential, {
    ...{ party, userId, userVerified: false },
    expected: { purpose: "second step", mfaToken },
  });
  attempt.succeeded();
  deps.codeThrottle.remember(client.address, userId);
  return await redeemPending(deps, mfaToken, client);
}

/** Verifies a use and stores its counter; the challenge is used up in any case. */
async function usePasskey(
  deps: PasskeyDeps,
  credential: UsedCredential,
  { party, expected, userId, userVerified }: {
    party: RelyingParty;
    expected: PasskeyChallenge;
    /** The account that it must belong to. */
    userId?: string;
    userVerified: boolean;
  },
): Promise<Passkey> {
  const { db, log, now } = deps;
  const challenge = takeChallenge(deps.passkeyChallenges, credential, expected);
  const passkey = selectPasskeyByCredential(db, credential.id);
  const { userHandle } = credential.response;
  const isOfAccount = passkey?.rpId === party.rpId &&
    (userId === undefined || passkey.userId === userId) &&
    (!userHandle || userHandle === userHandleOf(passkey.userId));
  if (challenge === undefined || !isOfAccount) throw refused();
  const counter = await verifyUse(log, credential, passkey, {
    ...party,
    challenge,
    userVerified,
  });
  const use = { id: passkey.id, counter: counter ?? 0, lastUsedAt: now().toISOString() };
  if (counter === undefined || !updatePasskeyUse(db, use)) throw refused();
  return passkey;
}

const refused = () => new AppError("unauthorized", "The passkey was not accepted; sign in again");

function requirePage(pageHash: string | null): string {
  if (pageHash !== null) return pageHash;
  throw new AppError("invalid", "The header X-Page-Secret is required without an mfaToken");
}

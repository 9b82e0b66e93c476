/** The caller's own passkeys. @module */

import {
  countPasskeys,
  deletePasskey,
  insertPasskey,
  type Passkey,
  selectPasskey,
  selectPasskeys,
  updatePasskeyName,
} from "../../../db/passkeys.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, tooMany } from "../../errors.ts";
import type { EmitDeps } from "../../events/emit.ts";
import type { Caller } from "../caller.ts";
import { findActiveUser } from "../users/users.ts";
import { CHALLENGE_MS, type PasskeyChallenge, takeChallenge } from "./challenges.ts";
import { addFactor, removeFactor } from "./factors.ts";
import {
  type NeededProof,
  neededProof,
  type Proof,
  type ProofDeps,
  requireProof,
} from "./proof.ts";
import type { RelyingParty } from "./relying_party.ts";
import { ALGORITHMS, type CreatedCredential, verifyRegistration } from "./webauthn.ts";

const PASSKEYS_MAX = 20;

type OwnDeps = Pick<Deps, "accounts" | "db" | "log" | "now" | "passkeyChallenges">;

type ChangeDeps = EmitDeps & ProofDeps & Pick<Deps, "accounts">;

/**
 * The caller's passkeys, oldest first, and what adding and deleting one needs.
 *
 * @throws {AppError} `not_found` in key mode.
 */
export function listPasskeys(
  deps: Pick<Deps, "accounts" | "db" | "now">,
  caller: Caller,
): { passkeys: Passkey[]; proof: NeededProof | null } {
  const { userId } = caller;
  findActiveUser(deps, userId);
  return { passkeys: selectPasskeys(deps.db, userId), proof: neededProof(deps, caller) };
}

/**
 * Options for the browser to create a passkey (PublicKeyCredentialCreationOptionsJSON). It is stored
 * on the authenticator where possible, so that it can sign in without an email address.
 *
 * @throws {AppError} `not_found` in key mode; `conflict` at the limit of passkeys.
 */
export function registrationOptions(
  deps: OwnDeps & Pick<Deps, "config">,
  caller: Caller,
  { rpId }: RelyingParty,
) {
  const { email, name } = findActiveUser(deps, caller.userId);
  assertBelowMax(deps.db, caller.userId);
  return {
    rp: { id: rpId, name: `Longshore ${deps.config.serverName}` },
    user: { id: userHandleOf(caller.userId), name: email, displayName: name ?? email },
    challenge: deps.passkeyChallenges.issue(registrationOf(caller), caller.userId),
    pubKeyCredParams: ALGORITHMS.map((alg) => ({ type: "public-key" as const, alg })),
    timeout: CHALLENGE_MS,
    excludeCredentials: selectPasskeys(deps.db, caller.userId)
      .filter((passkey) => passkey.rpId === rpId).map(descriptorOf),
    authenticatorSelection: {
      residentKey: "preferred" as const,
      userVerification: "preferred" as const,
    },
    attestation: "none" as const,
  };
}

/**
 * Stores a new passkey, and ends the caller's other sessions.
 *
 * @returns With recovery codes, if the account has no unused ones.
 * @throws {AppError} `not_found` in key mode; `forbidden` for a response that is not valid, and as
 * {@linkcode requireProof}; `conflict` for a passkey that is known, and at the limit.
 * @throws {ThrottledError} As {@linkcode requireProof}.
 */
export async function addPasskey(
  deps: OwnDeps & ChangeDeps,
  caller: Caller,
  { name, credential, ...proof }:
    & { name?: string | undefined; credential: CreatedCredential }
    & Proof,
  party: RelyingParty,
): Promise<Passkey & { recoveryCodes: string[] }> {
  const { db, log, now } = deps;
  const { userId } = caller;
  findActiveUser(deps, userId);
  await requireProof(deps, caller, proof);
  const challenge = takeChallenge(deps.passkeyChallenges, credential, registrationOf(caller));
  const created = challenge === undefined
    ? undefined
    : await verifyRegistration(log, credential, { ...party, challenge });
  if (!created) throw new AppError("forbidden", "The passkey was not accepted; try again");
  assertBelowMax(db, userId);
  const passkey = {
    ...created,
    id: crypto.randomUUID(),
    userId,
    name: name ?? `Passkey ${countPasskeys(db, userId) + 1}`,
    rpId: party.rpId,
    transports: credential.response.transports ?? [],
    createdAt: now().toISOString(),
    lastUsedAt: null,
  };
  const recoveryCodes = addFactor(deps, caller, "Passkey", () => insertPasskey(db, passkey));
  return { ...passkey, recoveryCodes };
}

/** @throws {AppError} `not_found` in key mode and for another user's passkey. */
export function renamePasskey(
  deps: Pick<Deps, "accounts" | "db">,
  { userId }: Caller,
  id: string,
  name: string,
): Passkey {
  findActiveUser(deps, userId);
  if (!updatePasskeyName(deps.db, { id, userId, name })) throw notFound("Passkey", id);
  return selectPasskey(deps.db, id)!;
}

/**
 * Deletes a passkey, and ends the caller's other sessions.
 *
 * @throws {AppError} `not_found` in key mode and for another user's passkey; `forbidden` as
 * {@linkcode requireProof}.
 * @throws {ThrottledError} As {@linkcode requireProof}.
 */
export async function removePasskey(
  deps: ChangeDeps,
  caller: Caller,
  id: string,
  proof: Proof,
): Promise<void> {
  const { userId } = caller;
  findActiveUser(deps, userId);
  if (selectPasskey(deps.db, id)?.userId !== userId) throw notFound("Passkey", id);
  await requireProof(deps, caller, proof);
  removeFactor(deps, caller, "Passkey", () => {
    if (!deletePasskey(deps.db, { id, userId })) throw notFound("Passkey", id);
  });
}

/** A passkey as the browser is told to use it, or to leave it. */
export const descriptorOf = ({ credentialId, transports }: Passkey) => ({
  type: "public-key" as const,
  id: credentialId,
  transports,
});

/** The account as an authenticator stores it, base64url. */
export const userHandleOf = (userId: string): string =>
  new TextEncoder().encode(userId).toBase64({ alphabet: "base64url", omitPadding: true });

const registrationOf = ({ userId, familyId }: Caller): PasskeyChallenge => ({
  purpose: "register",
  userId,
  familyId,
});

function assertBelowMax(db: Deps["db"], userId: string): void {
  if (countPasskeys(db, userId) >= PASSKEYS_MAX) throw tooMany("passkeys", PASSKEYS_MAX);
}

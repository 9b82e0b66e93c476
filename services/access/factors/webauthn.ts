/** Verification of WebAuthn messages, with a library that is loaded on first use. @module */

import type { Passkey } from "../../../db/passkeys.ts";
import { errorFields, type Log } from "../../log.ts";
import type { RelyingParty } from "./relying_party.ts";

/** A new passkey, as a browser prints it. Binary values are base64url. */
export interface CreatedCredential {
  id: string;
  rawId: string;
  type: "public-key";
  response: {
    clientDataJSON: string;
    attestationObject: string;
    transports?: string[] | undefined;
  };
}

/** A use of a passkey, as a browser prints it. */
export interface UsedCredential {
  id: string;
  rawId: string;
  type: "public-key";
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null | undefined;
  };
}

const library = () => import("./webauthn_library.ts");

/** EdDSA, ES256 and RS256 (IANA's COSE algorithms), which the library verifies. */
export const ALGORITHMS = [-8, -7, -257];

/** A verified new passkey. */
type Credential = Pick<Passkey, "credentialId" | "publicKey" | "counter">;

/** Values that a response must match. */
interface Expected extends RelyingParty {
  challenge: string;
}

/**
 * Verifies a new passkey. It needs no attestation, and one with certificates is refused: their
 * revocation lists would be fetched from addresses that the client chooses.
 *
 * @returns `undefined` for a response that is not valid.
 */
export async function verifyRegistration(
  log: Log,
  { id, rawId, type, response }: CreatedCredential,
  { challenge, rpId, origin }: Expected,
): Promise<Credential | undefined> {
  return await verified(log, async () => {
    const { decodeAttestationObject, isoBase64URL, verifyRegistrationResponse } = await library();
    const attestation = decodeAttestationObject(
      isoBase64URL.toBuffer(response.attestationObject),
    );
    const format = attestation.get("fmt");
    const isOwn = format === "packed" && attestation.get("attStmt").get("x5c") === undefined;
    if (format !== "none" && !isOwn) throw new Error("attestation with certificates");
    const { clientDataJSON, attestationObject } = response;
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        ...{ id, rawId, type, clientExtensionResults: {} },
        response: {
          clientDataJSON,
          attestationObject,
          authenticatorData: "",
          publicKeyAlgorithm: 0,
        },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: false,
      supportedAlgorithmIDs: ALGORITHMS,
    });
    if (!registrationInfo) throw new Error("not verified");
    const { credential } = registrationInfo;
    const publicKey = toText(credential.publicKey);
    return { credentialId: credential.id, publicKey, counter: credential.counter };
  });
}

/**
 * Verifies the use of a passkey.
 *
 * @param expected.userVerified Whether the authenticator must have recognized the user.
 * @returns The new counter; `undefined` for a response that is not valid, also for one with a counter
 * that is not above the last one.
 */
export async function verifyUse(
  log: Log,
  { id, rawId, type, response }: UsedCredential,
  { credentialId, publicKey, counter }: Credential,
  { challenge, rpId, origin, userVerified }: Expected & { userVerified: boolean },
): Promise<number | undefined> {
  return await verified(log, async () => {
    const { verifyAuthenticationResponse } = await library();
    const { clientDataJSON, authenticatorData, signature } = response;
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        ...{ id, rawId, type, clientExtensionResults: {} },
        response: { clientDataJSON, authenticatorData, signature, userHandle: "" },
      },
      expectedChallenge: challenge,
      expectedOrigin: origin,
      expectedRPID: rpId,
      requireUserVerification: userVerified,
      credential: { id: credentialId, publicKey: toBytes(publicKey), counter },
    });
    if (!verified) throw new Error("wrong signature");
    return authenticationInfo.newCounter;
  });
}

/** The library throws for each check that fails. The reason is for the log only. */
async function verified<Result>(
  log: Log,
  verify: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await verify();
  } catch (error) {
    log.warn("passkey refused", errorFields(error));
    return undefined;
  }
}

const toText = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: "base64url", omitPadding: true });

const toBytes = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.fromBase64(text, { alphabet: "base64url" });

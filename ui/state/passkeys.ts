/** Passkeys of this browser: creates and uses them with the options of the service. @module */

import type {
  NewPasskeyCredential,
  PasskeyCreationOptions,
  PasskeyCredential,
  PasskeyRequestOptions,
} from "../api/types.ts";

/** Whether the browser has passkeys for this page: only over TLS and on localhost. */
export const canUsePasskeys = (): boolean => "PublicKeyCredential" in globalThis;

/** @throws {Error} With a sentence, if the user cancels. */
export async function createPasskey(
  { challenge, user, excludeCredentials, ...options }: PasskeyCreationOptions,
): Promise<NewPasskeyCredential> {
  const created = await asked(navigator.credentials.create({
    publicKey: {
      ...options,
      challenge: bytesOf(challenge),
      user: { ...user, id: bytesOf(user.id) },
      excludeCredentials: excludeCredentials.map(descriptorOf),
    },
  }));
  const response = created.response as AuthenticatorAttestationResponse;
  return {
    ...partsOf(created),
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      attestationObject: textOf(response.attestationObject),
      transports: response.getTransports?.() ?? [],
    },
  };
}

/** @throws {Error} With a sentence, if the user cancels or has no such passkey. */
export async function usePasskey(
  { challenge, allowCredentials, ...options }: PasskeyRequestOptions,
): Promise<PasskeyCredential> {
  const used = await asked(navigator.credentials.get({
    publicKey: {
      ...options,
      challenge: bytesOf(challenge),
      allowCredentials: allowCredentials.map(descriptorOf),
    },
  }));
  const response = used.response as AuthenticatorAssertionResponse;
  return {
    ...partsOf(used),
    response: {
      clientDataJSON: textOf(response.clientDataJSON),
      authenticatorData: textOf(response.authenticatorData),
      signature: textOf(response.signature),
      userHandle: response.userHandle && textOf(response.userHandle),
    },
  };
}

const partsOf = ({ id }: PublicKeyCredential) => ({
  ...{ id, rawId: id, type: "public-key" as const },
  clientExtensionResults: {},
});

const SENTENCES: Record<string, string> = {
  InvalidStateError: "This device has a passkey of your account already",
  NotAllowedError: "No passkey was used: it took too long or was canceled",
  SecurityError: "Passkeys do not work at this address; use the address of SERVICE_BASE_URL",
};

async function asked(request: Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    return await request as PublicKeyCredential;
  } catch (error) {
    const { name, message } = error as Error;
    throw new Error(SENTENCES[name] ?? message);
  }
}

const descriptorOf = (
  { id, transports }: PasskeyRequestOptions["allowCredentials"][number],
): PublicKeyCredentialDescriptor => ({
  type: "public-key",
  id: bytesOf(id),
  transports: transports as AuthenticatorTransport[],
});

// Not `Uint8Array.fromBase64()`, which browsers of 2024 do not have.
const bytesOf = (text: string) =>
  Uint8Array.from(
    atob(text.replaceAll("-", "+").replaceAll("_", "/")),
    (character) => character.charCodeAt(0),
  );

const textOf = (bytes: ArrayBuffer) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

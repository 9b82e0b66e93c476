/** An authenticator in software: creates and uses one passkey (WebAuthn level 2, ES256). @module */

import { Buffer } from "node:buffer";
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

/** Claims of the authenticator and its browser; the defaults are right. */
export interface Claims {
  origin?: string;
  rpId?: string;
  counter?: number;
  /** Whether it recognized the user; default: yes. */
  userVerified?: boolean;
  userHandle?: string;
}

interface Options {
  challenge: string;
}

export interface Authenticator {
  /** The credential for `POST /api/account/passkeys`. */
  create(options: Options, claims?: Claims): unknown;
  /** The credential for a sign-in. */
  use(options: Options, claims?: Claims): unknown;
}

export function createAuthenticator(origin: string): Authenticator {
  const id = randomBytes(16);
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  let uses = 0;

  const claimed = (type: string, { challenge }: Options, claims: Claims) => {
    const { rpId = new URL(origin).hostname, counter = uses++, userVerified = true } = claims;
    const clientData = { type, challenge, origin: claims.origin ?? origin, crossOrigin: false };
    const authenticatorData = Buffer.concat([
      createHash("sha256").update(rpId).digest(),
      // User present, user verified, and a credential follows.
      Buffer.of(1 | (userVerified ? 4 : 0) | (type === "webauthn.create" ? 64 : 0)),
      uint32(counter),
    ]);
    return { clientDataJSON: Buffer.from(JSON.stringify(clientData)), authenticatorData };
  };
  const credential = (response: Record<string, Buffer>, others = {}) => ({
    id: text(id),
    rawId: text(id),
    type: "public-key",
    clientExtensionResults: {},
    response: {
      ...Object.fromEntries(Object.entries(response).map(([name, value]) => [name, text(value)])),
      ...others,
    },
  });

  return {
    create(options, claims = {}) {
      const { clientDataJSON, authenticatorData } = claimed("webauthn.create", options, claims);
      const authData = Buffer.concat([
        authenticatorData,
        Buffer.alloc(16),
        Buffer.of(0, id.length),
        id,
        coseKey(publicKey),
      ]);
      // {"fmt": "none", "attStmt": {}, "authData": bytes}
      const attestationObject = Buffer.concat([
        Buffer.from("a363666d74646e6f6e656761747453746d74a0686175746844617461", "hex"),
        Buffer.of(0x58, authData.length),
        authData,
      ]);
      return credential({ clientDataJSON, attestationObject }, { transports: ["usb"] });
    },
    use(options, claims = {}) {
      const { clientDataJSON, authenticatorData } = claimed("webauthn.get", options, claims);
      const hash = createHash("sha256").update(clientDataJSON).digest();
      const signature = sign("sha256", Buffer.concat([authenticatorData, hash]), privateKey);
      const { userHandle } = claims;
      return credential(
        { clientDataJSON, authenticatorData, signature },
        userHandle === undefined ? {} : { userHandle },
      );
    },
  };
}

const text = (bytes: Buffer) => bytes.toString("base64url");

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** The key as a COSE map: EC2, ES256, P-256 (RFC 9053, section 7.1). */
function coseKey(key: KeyObject): Buffer {
  const { x, y } = key.export({ format: "jwk" });
  const part = (label: number, value: string) =>
    Buffer.concat([Buffer.of(label, 0x58, 32), Buffer.from(value, "base64url")]);
  return Buffer.concat([Buffer.from("a5010203262001", "hex"), part(0x21, x!), part(0x22, y!)]);
}

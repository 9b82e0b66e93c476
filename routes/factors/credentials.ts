/**
 * Shapes of passkeys, as WebAuthn level 3 prints them as JSON (`toJSON()`). Binary values are
 * base64url.
 *
 * @module
 */

import * as z from "zod";

const binary = (bytesMax: number) =>
  z.string().max(Math.ceil(bytesMax * 4 / 3)).regex(/^[\w-]*$/, { error: "must be base64url" });

/** Longest credential ID (WebAuthn level 2, 5.4.1.3). */
const CREDENTIAL_ID_BYTES = 1_023;

const COMMON = {
  id: binary(CREDENTIAL_ID_BYTES),
  rawId: binary(CREDENTIAL_ID_BYTES),
  type: z.literal("public-key"),
  authenticatorAttachment: z.enum(["platform", "cross-platform"]).nullish(),
  clientExtensionResults: z.strictObject({
    credProps: z.strictObject({ rk: z.boolean().optional() }).optional(),
  }),
};

const ids = z.array(z.string().min(1).max(40)).max(20);

/** A new passkey. */
export const RegistrationCredential = z.strictObject({
  ...COMMON,
  response: z.strictObject({
    clientDataJSON: binary(4_096),
    attestationObject: binary(32_768),
    authenticatorData: binary(8_192).optional(),
    publicKey: binary(2_048).nullish(),
    publicKeyAlgorithm: z.int().optional(),
    transports: ids.optional(),
  }),
}).meta({ id: "NewPasskeyCredential" });

/** A use of a passkey. */
export const UseCredential = z.strictObject({
  ...COMMON,
  response: z.strictObject({
    clientDataJSON: binary(4_096),
    authenticatorData: binary(8_192),
    signature: binary(2_048),
    userHandle: binary(64).nullish(),
  }),
}).meta({
  id: "PasskeyCredential",
  example: {
    ...{ id: "mD9x1v0nQf2uV7sT9wE3rA", rawId: "mD9x1v0nQf2uV7sT9wE3rA", type: "public-key" },
    clientExtensionResults: {},
    response: {
      clientDataJSON: "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoi",
      authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
      signature: "MEUCIQDw",
      userHandle: "NmYxYzlkNWU",
    },
  },
});

const Descriptor = z.object({
  type: z.literal("public-key"),
  id: z.string(),
  transports: z.array(z.string()),
});

const Verification = z.enum(["required", "preferred", "discouraged"]);

export const CreationOptions = z.object({
  rp: z.object({ id: z.string().meta({ example: "longshore.example.com" }), name: z.string() }),
  user: z.object({ id: z.string(), name: z.string(), displayName: z.string() }),
  challenge: z.string(),
  pubKeyCredParams: z.array(z.object({ type: z.literal("public-key"), alg: z.int() })),
  timeout: z.int().meta({ description: "Milliseconds" }),
  excludeCredentials: z.array(Descriptor),
  authenticatorSelection: z.object({ residentKey: Verification, userVerification: Verification }),
  attestation: z.literal("none"),
}).meta({ id: "PasskeyCreationOptions" });

export const RequestOptions = z.object({
  challenge: z.string(),
  rpId: z.string().meta({ example: "longshore.example.com" }),
  timeout: z.int().meta({ description: "Milliseconds" }),
  userVerification: Verification,
  allowCredentials: z.array(Descriptor),
}).meta({ id: "PasskeyRequestOptions" });

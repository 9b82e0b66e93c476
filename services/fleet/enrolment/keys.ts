/** The keys of this installation in a fleet, made at the first need and sealed at rest. @module */

import { type FleetKey, insertFleetKeyIfMissing, selectFleetKey } from "../../../db/fleet_keys.ts";
import type { Deps } from "../../deps.ts";
import { openOrConflict } from "../../secrets/secrets.ts";
import {
  type Bytes,
  createKeyPair,
  exportPrivateKey,
  importKeyPair,
  type KeyPair,
} from "../link/noise.ts";

export type KeyDeps = Pick<Deps, "db" | "secrets" | "now">;

/** The end of an Ed25519 private key in PKCS #8 (RFC 8410, section 7), in bytes. */
const SEED_BYTES = 32;
const ED25519_PKCS8 = Uint8Array.fromHex("302e020100300506032b657004220420");

const REMEDY = "restore the key, or leave the fleet and join again";

/** Makes a key for a purpose, sealed as it is stored. */
export async function createFleetKey(
  { secrets, now }: Pick<KeyDeps, "secrets" | "now">,
  purpose: FleetKey["purpose"],
): Promise<FleetKey> {
  const created = await (purpose === "link" ? createLinkKey() : createNoteKey());
  return {
    purpose,
    publicKey: toText(created.publicKey),
    privateKey: secrets.seal(toText(created.privateKey), sealPurpose(purpose)),
    createdAt: now().toISOString(),
  };
}

/** Opens a stored key for links. */
export const openLinkKey = ({ secrets }: Pick<KeyDeps, "secrets">, key: FleetKey) =>
  importKeyPair(openKey({ secrets }, key));

/** The identity of this installation: the key of its links. */
export async function linkKeys(deps: KeyDeps): Promise<KeyPair> {
  return await importKeyPair(await privateBytes(deps, "link"));
}

/** The key with which this installation signs notes; `publicKey` is base64url. */
export async function noteKeys(
  deps: KeyDeps,
): Promise<{ privateKey: CryptoKey; publicKey: string }> {
  const privateKey = await importNoteKey(await privateBytes(deps, "note"));
  return { privateKey, publicKey: selectFleetKey(deps.db, "note")!.publicKey };
}

/** Opens a stored key for notes. */
export const openNoteKey = (
  { secrets }: Pick<KeyDeps, "secrets">,
  key: Pick<FleetKey, "privateKey" | "purpose">,
): Promise<CryptoKey> => importNoteKey(openKey({ secrets }, key));

/** SHA-256 of a public key as base64url: what people compare, and the name of an identity. */
export async function fingerprintOf(publicKey: Bytes): Promise<string> {
  return toText(new Uint8Array(await crypto.subtle.digest("SHA-256", publicKey)));
}

export const toText = (bytes: Uint8Array): string =>
  bytes.toBase64({ alphabet: "base64url", omitPadding: true });

/** @throws {SyntaxError} If it is not base64url. */
export const toBytes = (text: string): Bytes =>
  Uint8Array.fromBase64(text, { alphabet: "base64url" });

type NewKey = { publicKey: Bytes; privateKey: Bytes };

function importNoteKey(seed: Bytes): Promise<CryptoKey> {
  const encoded = new Uint8Array([...ED25519_PKCS8, ...seed]);
  return crypto.subtle.importKey("pkcs8", encoded, "Ed25519", false, ["sign"]);
}

async function privateBytes(deps: KeyDeps, purpose: FleetKey["purpose"]): Promise<Bytes> {
  const { db } = deps;
  if (!selectFleetKey(db, purpose)) {
    insertFleetKeyIfMissing(db, await createFleetKey(deps, purpose));
  }
  return openKey(deps, selectFleetKey(db, purpose)!);
}

const openKey = (
  { secrets }: Pick<KeyDeps, "secrets">,
  { privateKey, purpose }: Pick<FleetKey, "privateKey" | "purpose">,
): Bytes => toBytes(openOrConflict(() => secrets.open(privateKey, sealPurpose(purpose)), REMEDY));

const sealPurpose = (purpose: string) => `fleet key ${purpose}`;

async function createLinkKey(): Promise<NewKey> {
  const pair = await createKeyPair();
  return { publicKey: pair.publicKey, privateKey: await exportPrivateKey(pair) };
}

async function createNoteKey(): Promise<NewKey> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign"]) as CryptoKeyPair;
  const encoded = await crypto.subtle.exportKey("pkcs8", pair.privateKey);
  return {
    publicKey: new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey)),
    privateKey: new Uint8Array(encoded).slice(-SEED_BYTES),
  };
}

/**
 * Encryption of everything but key files (design document, "Keys, Encryption and MAC"):
 *
 *     IV (16 bytes) || ciphertext || MAC (16 bytes)
 *
 * The ciphertext is AES-256 in counter mode. The MAC over it is Poly1305-AES
 * (https://cr.yp.to/mac/poly1305-20050329.pdf): Poly1305 with the key `r || AES-128(k, IV)`.
 *
 * @module
 */

import { poly1305 } from "@noble/ciphers/_poly1305.js";
import { nodeCrypto } from "../../builtins.ts";
import { free } from "./buffers.ts";
import { damaged } from "./repository_error.ts";

const IV_BYTES = 16;
const MAC_BYTES = 16;

/** Bytes that encryption adds. */
export const CRYPTO_OVERHEAD = IV_BYTES + MAC_BYTES;

/** Bytes of a key: AES-256 key, then `k` and `r` of the MAC. */
export const KEY_BYTES = 64;

/** Keys of a repository, or those derived from a password. */
export interface CryptoKeys {
  /** 64 bytes, see {@linkcode KEY_BYTES}. */
  raw: Uint8Array;
  encrypt: CryptoKey;
}

/** @param raw {@linkcode KEY_BYTES} bytes. */
export async function importKeys(raw: Uint8Array): Promise<CryptoKeys> {
  const usages: KeyUsage[] = ["encrypt", "decrypt"];
  const bytes = raw.slice(0, 32);
  return { raw, encrypt: await crypto.subtle.importKey("raw", bytes, "AES-CTR", false, usages) };
}

/** Encrypts and authenticates `plaintext` with a random IV. */
export async function seal(keys: CryptoKeys, plaintext: Uint8Array): Promise<Uint8Array> {
  const sealed = new Uint8Array(plaintext.length + CRYPTO_OVERHEAD);
  const iv = crypto.getRandomValues(sealed.subarray(0, IV_BYTES));
  const ciphertext = new Uint8Array(
    await crypto.subtle.encrypt(counter(iv), keys.encrypt, plaintext as BufferSource),
  );
  sealed.set(ciphertext, IV_BYTES);
  sealed.set(mac(keys, iv, ciphertext), IV_BYTES + ciphertext.length);
  free(ciphertext);
  return sealed;
}

/**
 * Verifies and decrypts what {@linkcode seal} made.
 *
 * @param object Names the object in the message, e.g. `"Pack 1a2b3c4d"`.
 * @throws {RepositoryError} `damaged`
 */
export async function unseal(
  keys: CryptoKeys,
  sealed: Uint8Array,
  object: string,
): Promise<Uint8Array> {
  if (sealed.length < CRYPTO_OVERHEAD) throw damaged(object, "it is too short");
  const iv = sealed.subarray(0, IV_BYTES);
  const ciphertext = sealed.subarray(IV_BYTES, -MAC_BYTES);
  if (!isSameMac(mac(keys, iv, ciphertext), sealed.subarray(-MAC_BYTES))) {
    throw damaged(object, "its message authentication code does not match");
  }
  return new Uint8Array(
    await crypto.subtle.decrypt(counter(iv), keys.encrypt, ciphertext as BufferSource),
  );
}

const counter = (iv: Uint8Array) => ({
  name: "AES-CTR",
  counter: iv as BufferSource,
  length: 128,
});

function mac({ raw }: CryptoKeys, iv: Uint8Array, ciphertext: Uint8Array): Uint8Array {
  const key = new Uint8Array(32);
  key.set(raw.subarray(48, 64));
  const block = nodeCrypto().createCipheriv("aes-128-ecb", raw.subarray(32, 48), null);
  block.setAutoPadding(false);
  key.set(block.update(iv), 16);
  // The runtime keeps a cipher until it is finished.
  block.final();
  return poly1305(ciphertext, key);
}

/** Takes the same time wherever the two differ. */
function isSameMac(a: Uint8Array, b: Uint8Array): boolean {
  return nodeCrypto().timingSafeEqual(a, b);
}

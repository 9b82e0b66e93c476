/**
 * The keys of this installation: one signs access tokens, one encrypts stored secrets (webhook
 * headers, credentials of integrations).
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { nodeCrypto, randomText } from "../builtins.ts";
import { AppError, KeyFileError } from "../errors.ts";
import type { Log } from "../log.ts";
import { isThere, PRIVATE_MODE, readRegularFile, writePrivateFile } from "./private_file.ts";
import { systemReason } from "../text/system_reason.ts";

export interface Secrets {
  /** Signs access tokens with HMAC-SHA-256. */
  jwtKey(): Promise<CryptoKey>;
  /**
   * Encrypts a text for the database.
   *
   * @param purpose What the secret belongs to, e.g. `"webhook 4f1c... headers"`. Opening it needs
   * the same purpose, so that a sealed text cannot be moved to another row or column.
   */
  seal(text: string, purpose: string): string;
  /** @throws {SealError} If it was sealed with another key or for another purpose. */
  open(sealed: string, purpose: string): string;
  /** Returns a keyed hash: equal for equal texts, and useless without the key. */
  fingerprint(text: string): Promise<string>;
}

/** A sealed text cannot be opened. */
export class SealError extends Error {
  override readonly name = "SealError";
}

/**
 * Opens a stored secret.
 *
 * @param open Calls {@linkcode Secrets.open}.
 * @param remedy What the user can do, e.g. `"delete the webhook and create it again"`.
 * @throws {AppError} `conflict` if it cannot be decrypted.
 */
export function openOrConflict<Secret>(open: () => Secret, remedy?: string): Secret {
  try {
    return open();
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    const message = remedy === undefined ? cause.message : `${cause.message}: ${remedy}`;
    throw new AppError("conflict", message, { cause });
  }
}

/** Opens a stored secret; `undefined` if it cannot be decrypted. */
export function openIfPossible<Secret>(open: () => Secret): Secret | undefined {
  try {
    return open();
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
}

/** Length of generated keys, in bytes. */
const KEY_BYTES = 32;

/** AES-GCM's nonce and tag (NIST SP 800-38D, 5.2.1.1 and 5.2.1.2), in bytes. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Version of the encryption, for later changes. */
const SEAL_VERSION = "v1.";

const encoder = new TextEncoder();

/**
 * Loads the keys from the configuration (their UTF-8 bytes), or else from `jwt.secret` and
 * `secret.key` in `dataDir`, which the first start creates.
 *
 * A changed `SECRET_KEY` does not fail here. What was sealed with the former key cannot be opened,
 * and fails where it is used.
 *
 * @throws {KeyFileError} If a key file cannot be read or created, or does not contain a key.
 */
export function loadSecrets(
  { dataDir, jwtSecret, secretKey }: {
    dataDir: string;
    jwtSecret: string | null;
    secretKey: string | null;
  },
  log: Log,
): Secrets {
  return createSecrets({
    jwtSecret: jwtSecret !== null
      ? encoder.encode(jwtSecret)
      : keyFile(`${dataDir}/jwt.secret`, "all users have to log in again", log),
    secretKey: secretKey !== null
      ? encoder.encode(secretKey)
      : keyFile(`${dataDir}/secret.key`, "stored secrets have to be entered again", log),
  });
}

/** Creates the operations from the bytes of the two keys. */
export function createSecrets(
  { jwtSecret, secretKey }: { jwtSecret: Uint8Array; secretKey: Uint8Array },
): Secrets {
  // Each use has its own derived key, so that one cannot be abused for another.
  let sealing: Uint8Array | undefined;
  const sealingKey = () =>
    sealing ??= new Uint8Array(
      nodeCrypto().hkdfSync("sha256", secretKey, "", infoOf("stored secrets"), KEY_BYTES),
    );
  let fingerprinting: Promise<CryptoKey> | undefined;
  const fingerprintKey = () => fingerprinting ??= deriveHmacKey(secretKey, infoOf("fingerprints"));
  let jwtKey: Promise<CryptoKey> | undefined;

  return {
    jwtKey: () =>
      jwtKey ??= crypto.subtle.importKey(
        "raw",
        new Uint8Array(jwtSecret),
        { name: "HMAC", hash: "SHA-256" },
        false,
        ["sign", "verify"],
      ),

    seal(text, purpose) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const cipher = nodeCrypto().createCipheriv("aes-256-gcm", sealingKey(), nonce);
      cipher.setAAD(encoder.encode(purpose));
      const sealed = [nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()];
      return SEAL_VERSION + Buffer.concat(sealed).toString("base64url");
    },

    open(sealed, purpose) {
      const bytes = Buffer.from(sealed.slice(SEAL_VERSION.length), "base64url");
      if (!sealed.startsWith(SEAL_VERSION) || bytes.length < NONCE_BYTES + TAG_BYTES) {
        throw new SealError("A stored secret is damaged; enter it again");
      }
      try {
        const decipher = nodeCrypto().createDecipheriv(
          "aes-256-gcm",
          sealingKey(),
          bytes.subarray(0, NONCE_BYTES),
          { authTagLength: TAG_BYTES },
        );
        decipher.setAAD(encoder.encode(purpose));
        decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
        const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
        return Buffer.concat([text, decipher.final()]).toString("utf8");
      } catch (cause) {
        throw new SealError(
          "A stored secret cannot be decrypted: SECRET_KEY has changed, or the database was " +
            "modified; enter it again",
          { cause },
        );
      }
    },

    async fingerprint(text) {
      const hash = await crypto.subtle.sign("HMAC", await fingerprintKey(), encoder.encode(text));
      return Buffer.from(hash).toString("base64url");
    },
  };
}

const infoOf = (use: string) => `longshore ${use}`;

/** HKDF-SHA-256 without salt (RFC 5869). */
async function deriveHmacKey(secret: Uint8Array, info: string): Promise<CryptoKey> {
  const key = await crypto.subtle.importKey("raw", new Uint8Array(secret), "HKDF", false, [
    "deriveKey",
  ]);
  return await crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info: encoder.encode(info) },
    key,
    { name: "HMAC", hash: "SHA-256", length: 256 },
    false,
    ["sign"],
  );
}

/** Reads the key in a file; creates the file if it does not exist. */
function keyFile(path: string, afterwards: string, log: Log): Uint8Array {
  try {
    if (!isThere(path)) writePrivateFile(path, randomText(KEY_BYTES) + "\n");
    makePrivate(path, log);
    const text = readRegularFile(path).trim();
    const key = Buffer.from(text, "base64url");
    if (key.length === KEY_BYTES && key.toString("base64url") === text) return new Uint8Array(key);
  } catch (cause) {
    const reason = systemReason(cause);
    throw new KeyFileError(`${path} cannot be used: ${reason}`, { cause });
  }
  throw new KeyFileError(
    `${path} does not contain a key made by this service (${KEY_BYTES} bytes as base64url); ` +
      `restore it from a backup, or delete it to create a new one, after which ${afterwards}`,
  );
}

/** Removes the permissions of group and others; logs a warning if the file system cannot. */
function makePrivate(path: string, log: Log): void {
  const { mode, isFile } = Deno.lstatSync(path);
  // Anything but a file is refused when it is read.
  if (!isFile) return;
  if (mode === null || (mode & 0o077) === 0) return;
  try {
    Deno.chmodSync(path, PRIVATE_MODE);
    log.warn("key file was readable by other users; permissions corrected", { path });
  } catch {
    log.warn("key file is readable by other users, and its mode cannot be changed", { path });
  }
}

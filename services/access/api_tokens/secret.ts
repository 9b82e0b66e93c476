/**
 * The secret of an API token: a prefix, random characters and a checksum, so that secret scanners
 * recognize it and a mistyped one is refused without a lookup.
 *
 * @module
 */

import { nodeZlib, randomText, sha256 } from "../../builtins.ts";

const PREFIX = "lst_";

const RANDOM_BYTES = 32;

/** 43 characters of base64url are 32 random bytes; 6 are the checksum. */
const FORM = /^(lst_[\w-]{43})([\w-]{6})$/;

/** Creates a secret. */
export function makeApiToken(): string {
  const text = PREFIX + randomText(RANDOM_BYTES);
  return text + checksumOf(text);
}

/** Whether a bearer token is meant to be an API token, whether it is valid or not. */
export const isApiToken = (token: string): boolean => token.startsWith(PREFIX);

/** Whether the form and the checksum are those of an API token. */
export function isWellFormedApiToken(token: string): boolean {
  const [, text = "", checksum] = FORM.exec(token) ?? [];
  return checksum !== undefined && checksumOf(text) === checksum;
}

/** SHA-256, base64url. The secret cannot be guessed, so that a fast hash is enough. */
export const hashApiToken = (token: string): string => sha256(token);

/** CRC-32 (ISO 3309), big-endian, base64url. */
function checksumOf(text: string): string {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, nodeZlib().crc32(text));
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

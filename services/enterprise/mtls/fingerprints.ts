/**
 * Fingerprints: the SHA-256 of a certificate's DER bytes, by which it is known.
 *
 * @module
 */

import { nodeCrypto } from "../../builtins.ts";

/** `sha256:` and 64 hex digits in lower case. */
export function fingerprintOf(der: Uint8Array): string {
  return `sha256:${nodeCrypto().createHash("sha256").update(der).digest("hex")}`;
}

/** How a fingerprint can be written, as the end of a sentence. */
export const FINGERPRINT_RULE =
  "must be a SHA-256 fingerprint: 64 hex digits, with or without colons and the prefix sha256:";

/** What nginx's `$ssl_client_fingerprint` holds; it is recognized to say that it is not enough. */
const SHA1 = /^(?:sha1:)?(?:[0-9a-f]{2}:?){19}[0-9a-f]{2}$/i;

/** 32 pairs of digits, either all separated by colons or none. */
const SHA256 = /^(?:sha256:)?([0-9a-f]{64}|[0-9a-f]{2}(?::[0-9a-f]{2}){31})$/i;

/**
 * Reads a fingerprint as proxies and tools write them: hex in either case, with or without
 * colons, with or without `sha256:`.
 *
 * @returns As {@linkcode fingerprintOf} writes it; `undefined` for anything else.
 */
export function parseFingerprint(text: string): string | undefined {
  const hex = SHA256.exec(text.trim())?.[1];
  return hex && `sha256:${hex.replaceAll(":", "").toLowerCase()}`;
}

/** What is wrong with a text that is no fingerprint, as the end of a sentence. */
export function fingerprintFault(text: string): string {
  return SHA1.test(text.trim())
    ? "is a SHA-1 fingerprint, which can be forged; give the SHA-256 one, or the certificate"
    : FINGERPRINT_RULE;
}

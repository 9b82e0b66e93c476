/** Fingerprints identify certificates: the SHA-256 of the DER bytes. @module */

import { nodeCrypto } from "../../builtins.ts";

/** Returns `sha256:` and 64 lower-case hex digits. */
export function fingerprintOf(der: Uint8Array): string {
  return `sha256:${nodeCrypto().createHash("sha256").update(der).digest("hex")}`;
}

/** The accepted format, as the end of a sentence. */
export const FINGERPRINT_RULE =
  "must be a SHA-256 fingerprint: 64 hex digits, with or without colons and the prefix sha256:";

/** The format of nginx's `$ssl_client_fingerprint`, recognized for a helpful message. */
const SHA1 = /^(?:sha1:)?(?:[0-9a-f]{2}:?){19}[0-9a-f]{2}$/i;

/** 32 pairs of digits, either all or none separated by colons. */
const SHA256 = /^(?:sha256:)?([0-9a-f]{64}|[0-9a-f]{2}(?::[0-9a-f]{2}){31})$/i;

/**
 * Parses a fingerprint in the formats of proxies and tools: hex in either case, with or without
 * colons, with or without `sha256:`.
 *
 * @returns The format of {@linkcode fingerprintOf}; `undefined` for an invalid fingerprint.
 */
export function parseFingerprint(text: string): string | undefined {
  const hex = SHA256.exec(text.trim())?.[1];
  return hex && `sha256:${hex.replaceAll(":", "").toLowerCase()}`;
}

/** Describes why a text is not a fingerprint, as the end of a sentence. */
export function fingerprintFault(text: string): string {
  return SHA1.test(text.trim())
    ? "is a SHA-1 fingerprint, which can be forged; send the SHA-256 fingerprint or the certificate"
    : FINGERPRINT_RULE;
}

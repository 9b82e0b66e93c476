/**
 * The certificate that an identity provider signs with. SAML trusts the very key that the
 * administrator stored, not whoever issued the certificate around it: so neither issuer, nor
 * validity, nor revocation is looked at (identity providers commonly sign with certificates of
 * their own that have expired), and a certificate is withdrawn by replacing it.
 *
 * @module
 */

import type { KeyObject, X509Certificate } from "node:crypto";
import { nodeCrypto } from "../builtins.ts";
import { AppError } from "../errors.ts";
import { decodeBase64 } from "./saml_document.ts";

/** Longest certificate as PEM, in characters. */
export const CERTIFICATE_MAX = 50 * 1024;

/** Shortest RSA key, in bits (NIST SP 800-131A revision 2). */
const RSA_BITS_MIN = 2048;

/** Longest RSA key: the time of one check grows with its square, and the runtime reads no longer. */
const RSA_BITS_MAX = 4096;

// P-256, P-384 and P-521, as OpenSSL calls them.
const CURVES = ["prime256v1", "secp384r1", "secp521r1"];

const KEY_RULE = `must have an RSA key of ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits, ` +
  "or one on the curve P-256, P-384 or P-521";

const PEM = /^\s*-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----\s*$/;

/** A key that signatures can be checked with. */
export interface IdpKey {
  key: KeyObject;
  type: "rsa" | "ec";
  /** The certificate's bytes (DER) as base64 without line ends. */
  certificate: string;
}

/**
 * @param pem The one certificate, with nothing around it.
 * @throws {AppError} `invalid`, when signatures cannot or must not be checked with it.
 */
export function assertUsableIdpCertificate(pem: string): void {
  readIdpKey(pem);
}

/** @throws {AppError} As {@linkcode assertUsableIdpCertificate}. */
export function readIdpKey(pem: string): IdpKey {
  if (pem.length > CERTIFICATE_MAX) throw unusable(`is longer than ${CERTIFICATE_MAX} characters`);
  if ((pem.match(/-----BEGIN /g) ?? []).length > 1) throw unusable("must be exactly one");
  const der = decodeBase64(PEM.exec(pem)?.[1] ?? "");
  if (der === undefined || der.length === 0) {
    throw unusable("must be one PEM block of the type CERTIFICATE");
  }
  const key = publicKey(der);
  const details = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa") {
    const bits = details.modulusLength ?? 0;
    if (bits < RSA_BITS_MIN) {
      throw unusable(`has an RSA key of ${bits} bits; at least ${RSA_BITS_MIN} are needed`);
    }
    if (bits > RSA_BITS_MAX) throw unusable(KEY_RULE);
    // Whoever knows an exponent of 1 can sign, and an even one is none.
    const exponent = details.publicExponent ?? 0n;
    if (exponent < 3n || exponent % 2n === 0n) throw unusable("has an RSA key that signs nothing");
    return { key, type: "rsa", certificate: der.toBase64() };
  }
  if (key.asymmetricKeyType === "ec" && CURVES.includes(details.namedCurve ?? "")) {
    return { key, type: "ec", certificate: der.toBase64() };
  }
  throw unusable(KEY_RULE);
}

function publicKey(der: Uint8Array): KeyObject {
  const { X509Certificate } = nodeCrypto();
  // The reader takes the first certificate and passes over whatever follows it.
  if (der.length !== derLength(der)) throw unusable("must be exactly one");
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(der);
  } catch (cause) {
    throw unusable("cannot be read", cause);
  }
  try {
    return certificate.publicKey;
  } catch (cause) {
    throw unusable(KEY_RULE, cause);
  }
}

/** How long the sequence that DER begins with says it is, in bytes (X.690, 8.1.3). */
function derLength(der: Uint8Array): number | undefined {
  const [tag, first = 0] = der;
  if (tag !== 0x30) return undefined;
  if (first < 0x80) return 2 + first;
  const bytes = der.subarray(2, 2 + (first & 0x7f));
  return bytes.reduce((length, byte) => length * 256 + byte, 0) + 2 + bytes.length;
}

function unusable(why: string, cause?: unknown): AppError {
  return new AppError("invalid", `The certificate ${why}`, cause === undefined ? {} : { cause });
}

/**
 * The certificate that an identity provider signs with. SAML trusts the very key that the
 * administrator stored, not whoever issued the certificate around it: so neither issuer, nor
 * validity, nor revocation is looked at (identity providers commonly sign with certificates of
 * their own that have expired), and a certificate is withdrawn by replacing it.
 *
 * @module
 */

import type { KeyObject, X509Certificate } from "node:crypto";
import { nodeCrypto } from "../../builtins.ts";
import { AppError } from "../../errors.ts";
import { certificateBytes, CertificateError } from "../mtls/certificates.ts";

/** Shortest RSA key, in bits (NIST SP 800-131A revision 2). */
const RSA_BITS_MIN = 2048;

/** Longest RSA key: the time of one check grows with its square, and the runtime reads no longer. */
const RSA_BITS_MAX = 4096;

// P-256, P-384 and P-521, as OpenSSL calls them.
const CURVES = ["prime256v1", "secp384r1", "secp521r1"];

const KEY_RULE = `must have an RSA key of ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits, ` +
  "or one on the curve P-256, P-384 or P-521";

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
  const der = bytesOf(pem);
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

function bytesOf(pem: string): Uint8Array {
  try {
    return certificateBytes(pem);
  } catch (error) {
    if (error instanceof CertificateError) throw unusable(error.message, error);
    throw error;
  }
}

function publicKey(der: Uint8Array): KeyObject {
  const { X509Certificate } = nodeCrypto();
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

function unusable(why: string, cause?: unknown): AppError {
  return new AppError("invalid", `body.certificate: ${why}`, cause === undefined ? {} : { cause });
}

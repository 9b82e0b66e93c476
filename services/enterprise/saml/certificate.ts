/**
 * The signing certificates of an identity provider: several while it changes its key. SAML trusts the
 * keys that the administrator configured, so that issuer, validity period and revocation of a
 * certificate are not checked; identity providers commonly sign with expired self-signed
 * certificates. To revoke a certificate, replace it.
 *
 * @module
 */

import type { KeyObject, X509Certificate } from "node:crypto";
import { nodeCrypto } from "../../builtins.ts";
import { AppError } from "../../errors.ts";
import { certificateBytes, CertificateError } from "../mtls/certificates.ts";

/** Minimum length of RSA keys in bits (NIST SP 800-131A revision 2). */
const RSA_BITS_MIN = 2048;

/** Maximum length of RSA keys: verification time grows with the square of the length. */
const RSA_BITS_MAX = 4096;

// OpenSSL's names of P-256, P-384 and P-521.
const CURVES = ["prime256v1", "secp384r1", "secp521r1"];

/** Limit of certificates; each is tried for a signature. Metadata of providers has one to three. */
export const IDP_CERTIFICATES_MAX = 5;

const KEY_RULE = `must have an RSA key of ${RSA_BITS_MIN} to ${RSA_BITS_MAX} bits, ` +
  "or an ECDSA key on P-256, P-384 or P-521";

/** A key to verify signatures with. */
export interface IdpKey {
  key: KeyObject;
  type: "rsa" | "ec";
  /** The certificate as base64 DER without line breaks. */
  certificate: string;
}

/**
 * @param pem One to {@linkcode IDP_CERTIFICATES_MAX} certificates and nothing else.
 * @throws {AppError} `invalid`, if a key is unsuitable for verifying signatures.
 */
export function assertUsableIdpCertificates(pem: string): void {
  readIdpKeys(pem);
}

/** @throws {AppError} As {@linkcode assertUsableIdpCertificates}. */
export function readIdpKeys(pem: string): IdpKey[] {
  const blocks = pem.split(/(?<=-----END CERTIFICATE-----)(?!\s*$)/);
  if (blocks.length > IDP_CERTIFICATES_MAX) {
    throw unusable(`contains ${blocks.length} certificates; send at most ${IDP_CERTIFICATES_MAX}`);
  }
  return blocks.map(readIdpKey);
}

function readIdpKey(pem: string): IdpKey {
  const der = bytesOf(pem);
  const key = publicKey(der);
  const details = key.asymmetricKeyDetails ?? {};
  if (key.asymmetricKeyType === "rsa") {
    const bits = details.modulusLength ?? 0;
    if (bits < RSA_BITS_MIN) {
      throw unusable(`has an RSA key of ${bits} bits; at least ${RSA_BITS_MIN} are required`);
    }
    if (bits > RSA_BITS_MAX) throw unusable(KEY_RULE);
    // Signatures under the exponent 1 can be forged; even exponents are invalid.
    const exponent = details.publicExponent ?? 0n;
    if (exponent < 3n || exponent % 2n === 0n) {
      throw unusable("has an RSA key with an unusable exponent");
    }
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

function unusable(fault: string, cause?: unknown): AppError {
  return new AppError(
    "invalid",
    `body.certificate: ${fault}`,
    cause === undefined ? {} : { cause },
  );
}

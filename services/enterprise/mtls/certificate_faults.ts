/**
 * Checks of certificates for their purpose. Each fault is the end of a sentence that starts with
 * "The certificate", e.g. `has expired (2026-01-31T12:00:00.000Z)`.
 *
 * @module
 */

import type { Algorithm, Certificate } from "./certificates.ts";

/** NIST SP 800-131A disallows shorter keys for signatures. */
const RSA_BITS_MIN = 2048;

/** Verification time grows with the length of the key. */
const RSA_BITS_MAX = 16_384;

/** Longer exponents make verification slow and are not used in practice. */
const RSA_EXPONENT_BYTES_MAX = 8;

const CURVES = ["P-256", "P-384", "P-521"];

const HASHES = ["SHA-256", "SHA-384", "SHA-512"];

/** Checks the validity period of a certificate. Unknown dates are not a fault. */
export function dateFault(
  { not_before, not_after }: { not_before: string | null; not_after: string | null },
  at: Date,
): string | undefined {
  const now = at.toISOString();
  if (not_before !== null && now < not_before) return `is not yet valid (from ${not_before})`;
  if (not_after !== null && now > not_after) return `has expired (${not_after})`;
  return undefined;
}

/** Checks the validity period, key and signature algorithm. */
export function generalFault({ facts, traits }: Certificate, at: Date): string | undefined {
  return dateFault(facts, at) ?? keyFault(traits.key) ?? signatureFault(traits.signature);
}

function keyFault(key: Algorithm): string | undefined {
  switch (key.name) {
    case "RSASSA-PKCS1-v1_5":
      return rsaFault(key.modulusLength ?? 0, key.publicExponent ?? new Uint8Array());
    case "ECDSA":
      return CURVES.includes(key.namedCurve ?? "")
        ? undefined
        : `has a key on a curve other than ${CURVES.join(", ")}`;
    case "Ed25519":
      return undefined;
    default:
      return "has an unsupported key type; use RSA, ECDSA or Ed25519";
  }
}

function rsaFault(bits: number, exponent: Uint8Array): string | undefined {
  if (bits < RSA_BITS_MIN) return `has an RSA key of ${bits} bits; at least ${RSA_BITS_MIN}`;
  if (bits > RSA_BITS_MAX) return `has an RSA key of ${bits} bits; at most ${RSA_BITS_MAX}`;
  // With the exponent 1 a signature equals the signed value, so that every client could forge one.
  const value = exponent.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const isUsable = value >= 3n && value % 2n === 1n && exponent.length <= RSA_EXPONENT_BYTES_MAX;
  return isUsable ? undefined : "has an RSA key with an unusable exponent";
}

function signatureFault({ name, hash }: Algorithm): string | undefined {
  if (name === "Ed25519") return undefined;
  const isKnown = ["RSASSA-PKCS1-v1_5", "RSA-PSS", "ECDSA"].includes(name);
  return isKnown && HASHES.includes(hash?.name ?? "")
    ? undefined
    : "has a weak or unknown signature algorithm; use SHA-256, SHA-384, SHA-512 or Ed25519";
}

/** Checks that a certificate belongs to a certificate authority (RFC 5280, 4.2.1.9 and 4.2.1.3). */
export function authorityFault({ traits }: Certificate): string | undefined {
  if (!traits.isAuthority) {
    return "is not a CA certificate (basicConstraints CA:TRUE is missing)";
  }
  return traits.canSignCertificates === false
    ? "cannot sign certificates (keyUsage has no keyCertSign)"
    : undefined;
}

/** RFC 5280, 4.2.1.12: clientAuth and anyExtendedKeyUsage. */
const CLIENT_USAGES = ["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"];

/** Checks that a certificate can be used by a client. */
export function clientFault({ traits }: Certificate): string | undefined {
  const { extendedUsages } = traits;
  return !extendedUsages || extendedUsages.some((usage) => CLIENT_USAGES.includes(usage))
    ? undefined
    : "is not a client certificate (extendedKeyUsage has no clientAuth)";
}

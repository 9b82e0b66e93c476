/**
 * Strict reader of X.509 certificates. `certificate_faults.ts` checks their suitability.
 *
 * A certificate is parsed once, when it is stored, and later identified by the hash of its bytes.
 * The parser is loaded on first use.
 *
 * @module
 */

import type { X509Certificate } from "@peculiar/x509";
import type { CaCertificate } from "../../../db/enterprise/ca_certificates.ts";
import { fingerprintOf } from "./fingerprints.ts";

/** The fields of a certificate, as stored. */
type CertificateFacts = Omit<CaCertificate, "id" | "name" | "created_at">;

/** Properties that determine the suitability of a certificate. */
interface Traits {
  key: Algorithm;
  signature: Algorithm;
  /** Whether it has the extension basicConstraints with CA:TRUE. */
  isAuthority: boolean;
  /** From the extension keyUsage; `undefined` without it, which allows all usages. */
  canSignCertificates: boolean | undefined;
  /** Object identifiers in extendedKeyUsage; `undefined` without it, which allows all usages. */
  extendedUsages: string[] | undefined;
}

/** The algorithm of a public key or signature: the fields of WebCrypto's algorithms. */
export interface Algorithm {
  name: string;
  hash?: { name: string };
  namedCurve?: string;
  modulusLength?: number;
  publicExponent?: Uint8Array;
}

export interface Certificate {
  facts: CertificateFacts;
  traits: Traits;
  x509: X509Certificate;
}

/** An unacceptable certificate; the message ends a sentence that starts with "The certificate". */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** Maximum length of a PEM text. */
export const PEM_MAX = 50 * 1024;

/** Maximum length of a subject or issuer. */
const NAME_MAX = 1_000;

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";

/**
 * Decodes a PEM text to the DER bytes of its certificate. The text must contain nothing else: a
 * second certificate would be ambiguous, and a private key must not be sent.
 *
 * @throws {CertificateError} The message does not quote the text, which may be secret.
 */
export function certificateBytes(pem: string): Uint8Array {
  if (pem.length > PEM_MAX) throw new CertificateError(`is longer than ${PEM_MAX} characters`);
  if (/-----BEGIN [^-\n]*PRIVATE KEY/i.test(pem)) {
    throw new CertificateError(
      "contains a private key, which must never leave its machine; send only the certificate and " +
        "replace that key",
    );
  }
  const count = pem.split("-----BEGIN ").length - 1;
  if (count > 1) throw new CertificateError(`contains ${count} PEM blocks; send one certificate`);
  const text = pem.trim();
  if (!text.startsWith(BEGIN) || !text.endsWith(END)) {
    throw new CertificateError(
      `must be one certificate in PEM and nothing else, from "${BEGIN}" to "${END}"`,
    );
  }
  const bytes = base64Bytes(text.slice(BEGIN.length, -END.length));
  if (!bytes || !isOneSequence(bytes)) {
    throw new CertificateError("is damaged: its base64 does not decode to one certificate");
  }
  return bytes;
}

/** Checks that a text is one certificate in PEM, without parsing the certificate. */
export function pemFault(pem: string): string | undefined {
  try {
    certificateBytes(pem);
    return undefined;
  } catch (error) {
    return (error as CertificateError).message;
  }
}

/** @returns `undefined` for invalid base64. */
function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}

/**
 * Whether the bytes are exactly one DER sequence (X.690, 8.1.3). Appended bytes would change the
 * fingerprint of a certificate.
 */
function isOneSequence(bytes: Uint8Array): boolean {
  const [tag, first = 0] = bytes;
  if (tag !== 0x30) return false;
  if (first < 0x80) return bytes.length === 2 + first;
  const size = first - 0x80;
  if (size === 0 || size > 3) return false;
  const length = bytes.subarray(2, 2 + size).reduce((sum, byte) => sum * 256 + byte, 0);
  return bytes.length === 2 + size + length;
}

async function loadX509Library() {
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

type Library = Awaited<ReturnType<typeof loadX509Library>>;

/**
 * Reads a certificate in PEM.
 *
 * @throws {CertificateError}
 */
export async function readCertificate(pem: string): Promise<Certificate> {
  const bytes = certificateBytes(pem);
  const library = await loadX509Library();
  try {
    const x509 = new library.X509Certificate(bytes as Uint8Array<ArrayBuffer>);
    return { x509, facts: factsOf(x509, bytes), traits: traitsOf(x509, library) };
  } catch (cause) {
    if (cause instanceof CertificateError) throw cause;
    // The parser throws various errors, for deep nesting even a RangeError.
    throw new CertificateError("is not a readable X.509 certificate", { cause });
  }
}

function factsOf(x509: X509Certificate, bytes: Uint8Array): CertificateFacts {
  return {
    certificate: pemOf(bytes),
    fingerprint: fingerprintOf(bytes),
    subject: checkedName("subject", x509.subject),
    issuer: checkedName("issuer", x509.issuer),
    serial: x509.serialNumber.toLowerCase(),
    not_before: x509.notBefore.toISOString(),
    not_after: x509.notAfter.toISOString(),
  };
}

function traitsOf(x509: X509Certificate, library: Library): Traits {
  const { BasicConstraintsExtension, KeyUsagesExtension, ExtendedKeyUsageExtension } = library;
  const usages = x509.getExtension(KeyUsagesExtension)?.usages;
  return {
    key: x509.publicKey.algorithm,
    signature: x509.signatureAlgorithm,
    isAuthority: x509.getExtension(BasicConstraintsExtension)?.ca ?? false,
    canSignCertificates: usages === undefined
      ? undefined
      : (usages & library.KeyUsageFlags.keyCertSign) !== 0,
    extendedUsages: x509.getExtension(ExtendedKeyUsageExtension)?.usages.map(String),
  };
}

/** The PEM text of DER bytes. */
export function pemOf(bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(/.{1,64}/g) ?? [];
  return [BEGIN, ...lines, END].join("\n") + "\n";
}

/** Rejects invisible characters, because users compare names by eye. */
function checkedName(field: string, name: string): string {
  if (name.length > NAME_MAX) {
    throw new CertificateError(`has a ${field} of more than ${NAME_MAX} characters`);
  }
  if (/[\p{Cc}\p{Cf}]/u.test(name) || !name.isWellFormed()) {
    throw new CertificateError(`has a ${field} with invisible characters`);
  }
  return name;
}

/**
 * Whether an authority signed a certificate: the issuer has to be the subject of the authority, and
 * the authority's key has to verify the signature.
 */
export async function isSignedBy(
  { x509, facts }: Certificate,
  authority: Certificate,
): Promise<boolean> {
  if (facts.issuer !== authority.facts.subject) return false;
  try {
    return await x509.verify({ publicKey: authority.x509, signatureOnly: true });
  } catch {
    // E.g. an RSA signature with an ECDSA key.
    return false;
  }
}

/**
 * Reading X.509 certificates, strictly: what one says, and which of its traits decide what it is fit
 * for (see `certificate_faults.ts`).
 *
 * A certificate is parsed once, when it is stored. Later it is known by the hash of its bytes. The
 * parser takes a while to load, so that is done when it is first needed.
 *
 * @module
 */

import type { X509Certificate } from "@peculiar/x509";
import { fingerprintOf } from "./fingerprints.ts";

/** What a certificate says, as it is stored. Times are ISO 8601, UTC. */
export interface CertificateFacts {
  /** PEM, in lines of 64. */
  certificate: string;
  /** `sha256:` and 64 hex digits in lower case. */
  fingerprint: string;
  /** E.g. `CN=web-1, O=Example`. */
  subject: string;
  issuer: string;
  /** Hex. */
  serial: string;
  not_before: string;
  not_after: string;
}

/** What decides what a certificate is fit for. */
interface Traits {
  key: Algorithm;
  signature: Algorithm;
  /** Whether it has the extension basicConstraints with CA:TRUE. */
  isAuthority: boolean;
  /** By the extension keyUsage; `undefined` without it, which allows everything. */
  maySignCertificates: boolean | undefined;
  /** Object identifiers in extendedKeyUsage; `undefined` without it, which allows everything. */
  extendedUsages: string[] | undefined;
}

/** A public key's or a signature's algorithm: those fields of WebCrypto's that any of them has. */
export interface Algorithm {
  name: string;
  hash?: { name: string };
  namedCurve?: string;
  modulusLength?: number;
  publicExponent?: Uint8Array;
}

/** A certificate that was read in full: nothing of it can turn out to be unreadable later. */
export interface Certificate {
  facts: CertificateFacts;
  traits: Traits;
  x509: X509Certificate;
}

/** A certificate is not accepted; the message ends a sentence that begins with "The certificate". */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** Most characters of a PEM text: 50 KB. */
export const PEM_MAX = 50 * 1024;

/** Most characters of a subject or issuer. */
const NAME_MAX = 1_000;

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";

/**
 * The bytes (DER) of the one certificate in a PEM text. Nothing else may be in the text: neither a
 * second certificate, of which nobody could say which one counts, nor a private key.
 *
 * @throws {CertificateError} Its message repeats nothing of the text, which may be secret.
 */
export function certificateBytes(pem: string): Uint8Array {
  if (pem.length > PEM_MAX) throw new CertificateError(`is longer than ${PEM_MAX} characters`);
  if (/-----BEGIN [^-\n]*PRIVATE KEY/i.test(pem)) {
    throw new CertificateError(
      "holds a private key, which must never leave its machine: give the certificate alone, and " +
        "replace that key",
    );
  }
  const count = pem.split("-----BEGIN ").length - 1;
  if (count > 1) throw new CertificateError(`holds ${count} PEM blocks; give one certificate`);
  const text = pem.trim();
  if (!text.startsWith(BEGIN) || !text.endsWith(END)) {
    throw new CertificateError(
      `must be one certificate in PEM and nothing else, from "${BEGIN}" to "${END}"`,
    );
  }
  const bytes = base64Bytes(text.slice(BEGIN.length, -END.length));
  if (!bytes || !isOneSequence(bytes)) {
    throw new CertificateError("is damaged: its base64 is not that of one certificate");
  }
  return bytes;
}

/** Why a text is not one certificate in PEM, or `undefined`. What the certificate says is not read. */
export function pemFault(pem: string): string | undefined {
  try {
    certificateBytes(pem);
    return undefined;
  } catch (error) {
    return (error as CertificateError).message;
  }
}

/** @returns `undefined` for a text that is not base64. */
function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}

/**
 * Whether the bytes are one DER sequence and nothing more (X.690, 8.1.3). With bytes appended to it,
 * the same certificate would have another fingerprint.
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

async function x509Library() {
  await import("reflect-metadata");
  return await import("@peculiar/x509");
}

type Library = Awaited<ReturnType<typeof x509Library>>;

/**
 * Reads a certificate in PEM.
 *
 * @throws {CertificateError}
 */
export async function readCertificate(pem: string): Promise<Certificate> {
  const bytes = certificateBytes(pem);
  const library = await x509Library();
  try {
    const x509 = new library.X509Certificate(bytes as Uint8Array<ArrayBuffer>);
    return { x509, facts: factsOf(x509, bytes), traits: traitsOf(x509, library) };
  } catch (cause) {
    if (cause instanceof CertificateError) throw cause;
    // Parsers give up in many ways; on endless nesting even by a RangeError.
    throw new CertificateError("is no X.509 certificate that can be read", { cause });
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
    maySignCertificates: usages === undefined
      ? undefined
      : (usages & library.KeyUsageFlags.keyCertSign) !== 0,
    extendedUsages: x509.getExtension(ExtendedKeyUsageExtension)?.usages.map(String),
  };
}

function pemOf(bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(/.{1,64}/g) ?? [];
  return [BEGIN, ...lines, END].join("\n") + "\n";
}

/** Names are shown to people and compared by them, so none may look like another one. */
function checkedName(what: string, name: string): string {
  if (name.length > NAME_MAX) {
    throw new CertificateError(`names its ${what} with more than ${NAME_MAX} characters`);
  }
  if (/[\p{Cc}\p{Cf}]/u.test(name) || !name.isWellFormed()) {
    throw new CertificateError(`names its ${what} with characters that cannot be seen`);
  }
  return name;
}

/**
 * Whether an authority signed a certificate: the issuer's name must be the authority's, and its key
 * must verify the signature.
 */
export async function isSignedBy(
  { x509, facts }: Certificate,
  authority: Certificate,
): Promise<boolean> {
  if (facts.issuer !== authority.facts.subject) return false;
  try {
    return await x509.verify({ publicKey: authority.x509, signatureOnly: true });
  } catch {
    // E.g. an RSA signature and an ECDSA key.
    return false;
  }
}

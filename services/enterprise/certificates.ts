/**
 * X.509 certificates that somebody gives: read strictly, and what is wrong with them.
 *
 * One parser reads them all, and only when they are stored: later they are known by the hash of
 * their bytes. It is loaded when it is first needed.
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
  notBefore: string;
  notAfter: string;
}

/** What decides what a certificate is fit for. */
interface Traits {
  key: Algorithm;
  signature: Algorithm;
  /** basicConstraints; `false` without it. */
  isAuthority: boolean;
  /** keyUsage; `undefined` without it, which allows everything. */
  maySignCertificates: boolean | undefined;
  /** Object identifiers of extendedKeyUsage; likewise. */
  extendedUsages: string[] | undefined;
}

/** The fields of the algorithms that WebCrypto knows. */
interface Algorithm {
  name: string;
  hash?: { name: string };
  namedCurve?: string;
  modulusLength?: number;
  publicExponent?: Uint8Array;
}

/** A certificate that was read, with nothing left of it that could turn out to be unreadable. */
export interface Certificate {
  facts: CertificateFacts;
  traits: Traits;
  x509: X509Certificate;
}

/** What is wrong with a certificate, as the end of a sentence: `has expired (...)`. */
export class CertificateError extends Error {
  override readonly name = "CertificateError";
}

/** Most characters of a PEM text: 50 KB. */
export const PEM_MAX = 50 * 1024;

/** Most characters of a subject or issuer. */
const NAME_MAX = 1_000;

const BEGIN = "-----BEGIN CERTIFICATE-----";
const END = "-----END CERTIFICATE-----";

/** NIST SP 800-131A: no signatures by shorter keys. */
const RSA_BITS_MIN = 2048;

/** A signature by a longer one takes too long to check. */
const RSA_BITS_MAX = 16_384;

/** A longer exponent makes a check slow, and no key that is in use has one. */
const RSA_EXPONENT_BYTES_MAX = 8;

const CURVES = ["P-256", "P-384", "P-521"];

const HASHES = ["SHA-256", "SHA-384", "SHA-512"];

/**
 * The bytes (DER) of the one certificate in a PEM text. Nothing may stand beside it: what is
 * looked at must be what was meant, and a private key must not come along.
 *
 * @throws {CertificateError} Without a word of the text in it.
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

/** What is wrong with a PEM text before it is read as a certificate, as for a {@linkcode CertificateError}. */
export function certificateProblem(pem: string): string | undefined {
  try {
    certificateBytes(pem);
    return undefined;
  } catch (error) {
    return (error as CertificateError).message;
  }
}

/** `undefined` for what is not base64. */
function base64Bytes(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
  } catch {
    return undefined;
  }
}

/**
 * Whether the bytes are one DER sequence from the first to the last (X.690, 8.1.3): a byte more
 * would be another fingerprint for the same certificate.
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

/** The parser, which takes a while to load. */
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
    // A parser that gave up, by whatever it threw; also when the nesting has no end.
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
    notBefore: x509.notBefore.toISOString(),
    notAfter: x509.notAfter.toISOString(),
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

/** A name is shown and compared: none that looks like another one. */
function checkedName(what: string, name: string): string {
  if (name.length > NAME_MAX) {
    throw new CertificateError(`has a ${what} of more than ${NAME_MAX} characters`);
  }
  if (/[\p{Cc}\p{Cf}]/u.test(name) || !name.isWellFormed()) {
    throw new CertificateError(`has a ${what} with characters that cannot be seen`);
  }
  return name;
}

/** `undefined` while it is in its dates, which it may lack where nobody knows them. */
export function dateFault(
  { notBefore, notAfter }: { notBefore: string | null; notAfter: string | null },
  at: Date,
): string | undefined {
  const now = at.toISOString();
  if (notBefore !== null && now < notBefore) return `is not yet valid (from ${notBefore})`;
  if (notAfter !== null && now > notAfter) return `has expired (${notAfter})`;
  return undefined;
}

/** What makes a certificate unfit for anything: its dates, its key, how it is signed. */
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
      return "has a key of a kind that is not supported; use RSA, ECDSA or Ed25519";
  }
}

function rsaFault(bits: number, exponent: Uint8Array): string | undefined {
  if (bits < RSA_BITS_MIN) return `has an RSA key of ${bits} bits; at least ${RSA_BITS_MIN}`;
  if (bits > RSA_BITS_MAX) return `has an RSA key of ${bits} bits; at most ${RSA_BITS_MAX}`;
  // With the exponent 1 a signature is no more than what is signed: anybody could make one.
  const value = exponent.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
  const isUsable = value >= 3n && value % 2n === 1n && exponent.length <= RSA_EXPONENT_BYTES_MAX;
  return isUsable ? undefined : "has an RSA key with an unusable exponent";
}

function signatureFault({ name, hash }: Algorithm): string | undefined {
  if (name === "Ed25519") return undefined;
  const isKnown = ["RSASSA-PKCS1-v1_5", "RSA-PSS", "ECDSA"].includes(name);
  return isKnown && HASHES.includes(hash?.name ?? "")
    ? undefined
    : "is signed by a weak or unknown algorithm; use SHA-256, SHA-384 or SHA-512, or Ed25519";
}

/** What keeps a certificate from being that of an authority (RFC 5280, 4.2.1.9 and 4.2.1.3). */
export function authorityFault({ traits }: Certificate): string | undefined {
  if (!traits.isAuthority) {
    return "is not that of a certificate authority (basicConstraints CA:TRUE)";
  }
  return traits.maySignCertificates === false
    ? "must not sign certificates (keyUsage has no keyCertSign)"
    : undefined;
}

/** RFC 5280, 4.2.1.12: clientAuth and anyExtendedKeyUsage. */
const CLIENT_USAGES = ["1.3.6.1.5.5.7.3.2", "2.5.29.37.0"];

/** What keeps a certificate from being that of a client. */
export function clientFault({ traits }: Certificate): string | undefined {
  const { extendedUsages } = traits;
  return !extendedUsages || extendedUsages.some((usage) => CLIENT_USAGES.includes(usage))
    ? undefined
    : "must not identify a client (extendedKeyUsage has no clientAuth)";
}

/**
 * Whether an authority signed a certificate: by name, and by a check of the signature with the
 * authority's key.
 */
export async function isSignedBy(
  { x509, facts }: Certificate,
  authority: Certificate,
): Promise<boolean> {
  if (facts.issuer !== authority.facts.subject) return false;
  try {
    return await x509.verify({ publicKey: authority.x509, signatureOnly: true });
  } catch {
    // A signature of another kind than the key.
    return false;
  }
}

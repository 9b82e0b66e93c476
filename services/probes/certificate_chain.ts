/**
 * Finds all problems of a certificate chain. The runtime's own verification reports only the first
 * one, and for an expired certificate sometimes a different one.
 *
 * @module
 */

import type { X509Certificate } from "node:crypto";
import { coversHost, parseAltNames } from "./certificate_names.ts";

/** Limit of the chain length; real chains have two to four certificates. */
const CHAIN_MAX = 10;

/** Limit of names in a message. */
const NAMES_LISTED = 5;

/** Trusted authorities by subject name, which several can share. */
export type TrustAnchors = ReadonlyMap<string, readonly X509Certificate[]>;

export function trustAnchorsOf(certificates: readonly X509Certificate[]): TrustAnchors {
  return Map.groupBy(certificates, ({ subject }) => subject);
}

/**
 * All problems of a chain, as predicates of "The certificate", e.g.
 * `has expired (2021-01-01T00:00:00.000Z)`.
 *
 * @param chain As the server sent it, its own certificate first.
 */
export function findCertificateProblems(
  chain: readonly X509Certificate[],
  { host, at, anchors }: { host: string; at: Date; anchors: TrustAnchors },
): string[] {
  const [leaf] = chain;
  if (!leaf) return ["is missing"];
  return [dateProblem(leaf, at), trustProblem(chain, anchors, at), nameProblem(leaf, host)]
    .filter((problem) => problem !== undefined);
}

/** `undefined` within the validity period. */
function dateProblem(certificate: X509Certificate, at: Date): string | undefined {
  const [from, to] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
  if (at < from) return `is not yet valid (from ${from.toISOString()})`;
  if (at > to) return `has expired (${to.toISOString()})`;
  return undefined;
}

/** `undefined` if the certificate covers the host. */
function nameProblem(certificate: X509Certificate, host: string): string | undefined {
  const names = parseAltNames(certificate.subjectAltName);
  if (coversHost(names, host)) return undefined;
  const all = [...names.dns, ...names.ip];
  if (all.length === 0) return "has no subject alternative name";
  const listed = all.slice(0, NAMES_LISTED).join(", ") + (all.length > NAMES_LISTED ? ", ..." : "");
  return `is for another name (${listed})`;
}

/** A distinguished name on one line, e.g. `CN=R3, O=Example`. */
export function formatName(distinguishedName: string): string {
  return distinguishedName.split("\n").filter((part) => part !== "").join(", ");
}

/** Follows the issuers from the server's certificate to a trusted authority. */
function trustProblem(
  chain: readonly X509Certificate[],
  anchors: TrustAnchors,
  at: Date,
): string | undefined {
  const leaf = chain[0]!;
  const isAnchor = (anchors.get(leaf.subject) ?? []).some((anchor) => isSame(anchor, leaf));
  if (isAnchor) return undefined;
  if (isIssuer(leaf, leaf)) return "is self-signed";
  let current = leaf;
  for (let steps = 0; steps < CHAIN_MAX; steps++) {
    const issued = current;
    if (anchors.get(issued.issuer)?.some((anchor) => isIssuer(anchor, issued))) return undefined;
    const issuer = chain.find((other) => !isSame(other, issued) && isIssuer(other, issued));
    const name = formatName(current.issuer);
    if (!issuer) {
      return `is signed by an unknown authority or has an incomplete chain ` +
        `(the issuer ${name} is neither trusted nor sent)`;
    }
    if (isIssuer(issuer, issuer)) return `is signed by an unknown authority (${name})`;
    const problem = dateProblem(issuer, at);
    if (problem) return `has an intermediate certificate (${name}) that ${problem}`;
    current = issuer;
  }
  return "has a chain that is too long";
}

function isSame(one: X509Certificate, other: X509Certificate): boolean {
  return one.fingerprint256 === other.fingerprint256;
}

function isIssuer(issuer: X509Certificate, issued: X509Certificate): boolean {
  try {
    return issuer.subject === issued.issuer && issued.verify(issuer.publicKey);
  } catch {
    return false; // a key type or signature that the runtime does not support
  }
}

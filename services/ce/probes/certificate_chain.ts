/**
 * What is wrong with a chain of certificates. The runtime verifies, but tells only the first
 * reason, and for a certificate that is out of date another one; this finds all of them.
 *
 * @module
 */

import type { X509Certificate } from "node:crypto";
import { isNamed, parseAltNames } from "./certificate_names.ts";

/** Longer chains are not walked; real ones have two to four certificates. */
const CHAIN_MAX = 10;

/** The authorities that are trusted, by their name; several can share one. */
export type TrustAnchors = ReadonlyMap<string, readonly X509Certificate[]>;

export function trustAnchorsOf(certificates: readonly X509Certificate[]): TrustAnchors {
  return Map.groupBy(certificates, ({ subject }) => subject);
}

/**
 * Everything that is wrong, as ends of a sentence that begins with "The certificate", e.g.
 * `has expired (2021-01-01T00:00:00.000Z)`.
 *
 * @param chain As the server sent it, its own certificate first.
 */
export function certificateFaults(
  chain: readonly X509Certificate[],
  { host, at, anchors }: { host: string; at: Date; anchors: TrustAnchors },
): string[] {
  const [leaf] = chain;
  if (!leaf) return ["is missing"];
  return [dateFault(leaf, at), trustFault(chain, anchors, at), nameFault(leaf, host)]
    .filter((fault) => fault !== undefined);
}

/** `undefined` while the certificate is in date. */
function dateFault(certificate: X509Certificate, at: Date): string | undefined {
  const [from, to] = [new Date(certificate.validFrom), new Date(certificate.validTo)];
  if (at < from) return `is not yet valid (from ${from.toISOString()})`;
  if (at > to) return `has expired (${to.toISOString()})`;
  return undefined;
}

/** `undefined` when the certificate is for the host. */
function nameFault(certificate: X509Certificate, host: string): string | undefined {
  const names = parseAltNames(certificate.subjectAltName);
  if (isNamed(names, host)) return undefined;
  const [shown, more] = [[...names.dns, ...names.ip], 5];
  if (shown.length === 0) return "is for no name at all, only its subject has one";
  const others = shown.slice(0, more).join(", ") + (shown.length > more ? ", ..." : "");
  return `is for another name (${others})`;
}

/** One line of a distinguished name, e.g. `CN=R3, O=Example`. */
export function nameText(distinguishedName: string): string {
  return distinguishedName.split("\n").filter((part) => part !== "").join(", ");
}

/** Walks up from the server's certificate to an authority that is trusted. */
function trustFault(
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
    const name = nameText(current.issuer);
    if (!issuer) {
      return `is signed by an unknown authority or comes with an incomplete chain ` +
        `(the issuer ${name} is neither trusted nor sent)`;
    }
    if (isIssuer(issuer, issuer)) return `is signed by an unknown authority (${name})`;
    const outdated = dateFault(issuer, at);
    if (outdated) return `has an intermediate certificate (${name}) that ${outdated}`;
    current = issuer;
  }
  return "comes with too long a chain";
}

function isSame(one: X509Certificate, other: X509Certificate): boolean {
  return one.fingerprint256 === other.fingerprint256;
}

function isIssuer(issuer: X509Certificate, issued: X509Certificate): boolean {
  try {
    return issuer.subject === issued.issuer && issued.verify(issuer.publicKey);
  } catch {
    return false; // a kind of key or signature that the runtime does not know
  }
}

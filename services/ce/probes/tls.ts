/**
 * The certificates of the domains in `SSL_DOMAINS`, seen with a real TLS handshake.
 *
 * @module
 */

import type { X509Certificate } from "node:crypto";
import type { LookupFunction } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Deps } from "../../deps.ts";
import {
  certificateFaults,
  nameText,
  type TrustAnchors,
  trustAnchorsOf,
} from "./certificate_chain.ts";
import { parseAltNames } from "./certificate_names.ts";
import { connectionFailure } from "./connection_failure.ts";
import { createLimiter } from "../../limiter.ts";
import { keepAnswer } from "./response_cache.ts";

export interface CertificateTarget {
  /** A host name or an IP address; IPv6 in brackets. */
  domain: string;
  port: number;
}

/** A certificate as a server presents it; everything is null where none was seen. */
export interface CertificateCheck extends CertificateTarget {
  /** Trusted, in date and for the domain. */
  valid: boolean;
  /** Whole days; below zero after the end. */
  daysRemaining: number | null;
  issuer: string | null;
  subject: string | null;
  altNames: string[];
  /** ISO 8601, UTC. */
  validFrom: string | null;
  expiresAt: string | null;
  /** SHA-256, pairs of upper-case hex digits with colons between. */
  fingerprint: string | null;
  /** A sentence with everything that is wrong; null for a valid one. */
  error: string | null;
}

export interface CertificateCheckOptions {
  now: () => Date;
  /** For the whole check; default {@linkcode TIMEOUT_MS}. */
  timeoutMs?: number;
  /** Authorities (PEM) that are trusted instead of the runtime's. */
  ca?: string[];
  /** Resolves names instead of the system. */
  lookup?: LookupFunction;
  /** Ends the checks; what was not seen until then stays unseen. */
  signal?: AbortSignal;
}

/** How long a list is given again, in milliseconds. */
const KEPT_MS = 30_000;

/** Time for one server, from the resolution of the name to the certificate, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** How many servers are asked at the same time. */
const PARALLEL = 10;

const DAY_MS = 24 * 60 * 60 * 1000;

/** More names are cut off; certificates of large hosters have hundreds. */
const ALT_NAMES_MAX = 100;

/** The certificates of all configured domains, at most 30 seconds old, in their order. */
export function createCertificateProber(
  { config, now }: Pick<Deps, "config" | "now">,
  options: Omit<CertificateCheckOptions, "now"> = {},
): () => Promise<CertificateCheck[]> {
  return keepAnswer(
    { keptMs: KEPT_MS, now },
    () => checkCertificates(config.sslDomains, { ...options, now }),
  );
}

/** Checks all, ten at a time. Never fails; what is wrong stands in each `error`. */
export async function checkCertificates(
  targets: readonly CertificateTarget[],
  options: CertificateCheckOptions,
): Promise<CertificateCheck[]> {
  if (targets.length === 0) return [];
  const gate = createLimiter({ what: "TLS probes", running: PARALLEL, waiting: Infinity });
  return await Promise.all(
    targets.map((target) => gate(() => checkCertificate(target, options))),
  );
}

/** Checks one server's certificate. Never fails; what is wrong stands in `error`. */
export async function checkCertificate(
  target: CertificateTarget,
  options: CertificateCheckOptions,
): Promise<CertificateCheck> {
  const { domain, port } = target;
  try {
    return await described(await handshake(target, options), target, options);
  } catch (error) {
    return {
      domain,
      port,
      valid: false,
      daysRemaining: null,
      issuer: null,
      subject: null,
      altNames: [],
      validFrom: null,
      expiresAt: null,
      fingerprint: null,
      error: asSentence(error instanceof HandshakeError ? error.message : connectionFailure(error)),
    };
  }
}

class HandshakeError extends Error {}

interface Handshake {
  /** As far as the server sent it, its own certificate first. */
  chain: X509Certificate[];
  /** What the runtime has against it; null for nothing. */
  refusal: string | null;
}

/**
 * Shakes hands without insisting on trust, so that a bad certificate is seen, too. Nothing is sent
 * over the connection afterwards.
 *
 * @throws {HandshakeError} For a server that gives no certificate in time.
 * @throws The socket's error for one that cannot be connected to.
 */
async function handshake(
  { domain, port }: CertificateTarget,
  { ca, lookup, timeoutMs = TIMEOUT_MS, signal }: CertificateCheckOptions,
): Promise<Handshake> {
  const [tls, { isIP }, { X509Certificate }] = await Promise.all([
    import("node:tls"),
    import("node:net"),
    import("node:crypto"),
  ]);
  const host = domain.replace(/^\[(.*)\]$/, "$1");
  let connected = false;
  if (signal?.aborted) throw new HandshakeError("the check was ended");

  return await new Promise<Handshake>((resolve, reject) => {
    const socket = tls.connect({
      host,
      port,
      rejectUnauthorized: false,
      // RFC 6066, 3: there is no server name indication for addresses.
      ...(isIP(host) === 0 && { servername: host.replace(/\.$/, "") }),
      ...(ca && { ca }),
      ...(lookup && { lookup }),
    });
    const end = (settle: () => void) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
      settle();
      socket.destroy();
    };
    const fail = (error: unknown) => end(() => reject(error));
    const abort = () => fail(new HandshakeError("the check was ended"));
    signal?.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(() => {
      const within = `within ${timeoutMs / 1000} s`;
      fail(
        new HandshakeError(
          connected
            ? `handshake failure: the server did not complete the TLS handshake ${within}`
            : `unreachable: no connection ${within}`,
        ),
      );
    }, timeoutMs);

    socket.once("connect", () => connected = true);
    socket.once("secureConnect", () => {
      try {
        const chain = peerChain(socket).map((raw) => new X509Certificate(raw));
        const refusal = socket.authorized ? null : String(socket.authorizationError ?? "unknown");
        end(() => resolve({ chain, refusal }));
      } catch (error) {
        fail(
          new HandshakeError("handshake failure: the certificate is unreadable", {
            cause: error,
          }),
        );
      }
    });
    // Stays after the end, for a late failure of the socket is nobody's business.
    socket.on("error", (error: Error & { code?: string }) => {
      fail(
        connected && error.code === "ECONNRESET"
          ? new HandshakeError("handshake failure: the server closed the connection")
          : error,
      );
    });
  });
}

/** The DER of the chain. The runtime links certificates to their issuers, the last to itself. */
function peerChain(socket: TLSSocket): Uint8Array<ArrayBuffer>[] {
  const chain = new Map<string, Uint8Array<ArrayBuffer>>();
  let next = socket.getPeerCertificate(true);
  while (next?.raw && !chain.has(next.fingerprint256)) {
    chain.set(next.fingerprint256, new Uint8Array(next.raw));
    next = next.issuerCertificate;
  }
  return [...chain.values()];
}

async function described(
  { chain, refusal }: Handshake,
  { domain, port }: CertificateTarget,
  { now, ca }: CertificateCheckOptions,
): Promise<CertificateCheck> {
  const leaf = chain[0];
  if (!leaf) throw new HandshakeError("handshake failure: the server sent no certificate");
  const at = now();
  const expires = new Date(leaf.validTo);
  const names = parseAltNames(leaf.subjectAltName);
  // The runtime is the judge: what it accepts needs no search for an authority.
  const anchors = refusal === null ? trustAnchorsOf([leaf]) : await trustAnchors(ca);
  const faults = certificateFaults(chain, { host: domain, at, anchors });
  // E.g. a certificate that is not meant for servers.
  if (refusal !== null && faults.length === 0) faults.push(`is refused (${refusal})`);
  return {
    domain,
    port,
    valid: faults.length === 0,
    daysRemaining: Math.floor((expires.getTime() - at.getTime()) / DAY_MS),
    issuer: nameText(leaf.issuer),
    subject: nameText(leaf.subject),
    altNames: [...names.dns, ...names.ip].slice(0, ALT_NAMES_MAX),
    validFrom: new Date(leaf.validFrom).toISOString(),
    expiresAt: expires.toISOString(),
    fingerprint: leaf.fingerprint256,
    error: faults.length === 0 ? null : `The certificate ${listed(faults)}`,
  };
}

let runtimeAnchors: Promise<TrustAnchors> | undefined;

/** The trusted authorities; those of the runtime are read once, when they are first needed. */
function trustAnchors(ca: string[] | undefined): Promise<TrustAnchors> {
  return ca ? readAnchors(ca) : runtimeAnchors ??= readAnchors();
}

async function readAnchors(ca?: string[]): Promise<TrustAnchors> {
  const [{ X509Certificate }, { getCACertificates }] = await Promise.all([
    import("node:crypto"),
    import("node:tls"),
  ]);
  const readable = (ca ?? getCACertificates("default")).flatMap((pem) => {
    try {
      return [new X509Certificate(pem)];
    } catch {
      return []; // one that the runtime cannot read, it cannot trust either
    }
  });
  return trustAnchorsOf(readable);
}

/** `a`, `a and b`, `a, b and c`. */
function listed(parts: string[]): string {
  const head = parts.slice(0, -1);
  return head.length === 0 ? parts[0]! : `${head.join(", ")} and ${parts.at(-1)}`;
}

/** With a capital, as the sentences of the API begin. */
function asSentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

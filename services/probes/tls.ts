/** Checks the certificates of the domains in `SSL_DOMAINS` with a TLS handshake. @module */

import type { X509Certificate } from "node:crypto";
import type { LookupFunction } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Deps } from "../deps.ts";
import {
  findCertificateProblems,
  formatName,
  type TrustAnchors,
  trustAnchorsOf,
} from "./certificate_chain.ts";
import { parseAltNames } from "./certificate_names.ts";
import { capitalize, describeConnectionFailure } from "./connection_failure.ts";
import { createLimiter } from "../limiter.ts";
import { cacheResponse } from "./response_cache.ts";

interface CertificateTarget {
  /** A host name or an IP address; IPv6 in brackets. */
  domain: string;
  port: number;
}

/** The result of a check. Without a certificate its fields are `null`. */
export interface CertificateCheck extends CertificateTarget {
  /** Whether it is trusted, not expired and valid for the domain. */
  valid: boolean;
  /** Whole days; negative after expiry. */
  daysRemaining: number | null;
  issuer: string | null;
  subject: string | null;
  altNames: string[];
  /** ISO 8601, UTC. */
  validFrom: string | null;
  expiresAt: string | null;
  /** SHA-256 as upper-case hex bytes, separated by colons. */
  fingerprint: string | null;
  /** A sentence with all problems; `null` if valid. */
  error: string | null;
}

/** Options of a probe's connection. */
export interface CertificateCheckOptions {
  now: () => Date;
  /** Of the whole probe; default {@linkcode TIMEOUT_MS}. */
  timeoutMs?: number;
  /** Trusted authorities (PEM); default those of the runtime. */
  ca?: string[];
  /** Shares the parsed authorities between checks. */
  trustStore?: TrustStore;
  /** Resolves names instead of the system. */
  lookup?: LookupFunction;
  /** Interrupts the checks, which then report an error. */
  signal?: AbortSignal;
}

/** Time for which results are cached, in milliseconds. */
export const CACHE_MS = 30_000;

/** Timeout of one probe, from name resolution to the answer, in milliseconds. */
export const TIMEOUT_MS = 10_000;

/** Limit of concurrent probes. */
export const PARALLEL = 10;

const DAY_MS = 24 * 60 * 60 * 1000;

/** Limit of reported names; certificates of large hosters have hundreds. */
const ALT_NAMES_MAX = 100;

/** Checks all configured domains in their order; results are cached for 30 seconds. */
export function createCertificateProber(
  { config, now }: Pick<Deps, "config" | "now">,
  options: Omit<CertificateCheckOptions, "now"> = {},
): () => Promise<CertificateCheck[]> {
  const trustStore = createTrustStore(options.ca);
  return cacheResponse(
    { maxAgeMs: CACHE_MS, now },
    () => checkCertificates(config.sslDomains, { ...options, now, trustStore }),
  );
}

/** Checks all servers, in the order given. Never fails; problems are reported in `error`. */
export async function checkCertificates(
  targets: readonly CertificateTarget[],
  options: CertificateCheckOptions,
): Promise<CertificateCheck[]> {
  const limit = createLimiter({ what: "TLS probes", running: PARALLEL, waiting: Infinity });
  const trustStore = options.trustStore ?? createTrustStore(options.ca);
  return await Promise.all(
    targets.map((target) => limit(() => checkCertificate(target, { ...options, trustStore }))),
  );
}

/** Checks one server's certificate. Never fails; problems are reported in `error`. */
export async function checkCertificate(
  target: CertificateTarget,
  options: CertificateCheckOptions,
): Promise<CertificateCheck> {
  const { domain, port } = target;
  try {
    return await describeCertificate(await handshake(target, options), target, options);
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
      error: capitalize(
        error instanceof HandshakeError ? error.message : describeConnectionFailure(error),
      ),
    };
  }
}

class HandshakeError extends Error {}

interface Handshake {
  /** The certificates that the server sent, its own first. */
  chain: X509Certificate[];
  /** The runtime's verification error; `null` if it accepts the certificate. */
  refusal: string | null;
}

/**
 * Completes a TLS handshake without requiring trust, so that an invalid certificate can be read,
 * and closes the connection.
 *
 * @throws {HandshakeError} If the server does not send a certificate in time.
 * @throws The socket's error if the connection fails.
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
  let isConnected = false;
  if (signal?.aborted) throw new HandshakeError("the check was interrupted");

  return await new Promise<Handshake>((resolve, reject) => {
    const socket = tls.connect({
      host,
      port,
      rejectUnauthorized: false,
      // RFC 6066, 3: server name indication is not allowed for addresses.
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
    const abort = () => fail(new HandshakeError("the check was interrupted"));
    signal?.addEventListener("abort", abort, { once: true });
    const timer = setTimeout(() => {
      const within = `within ${timeoutMs / 1000} s`;
      fail(
        new HandshakeError(
          isConnected
            ? `handshake failure: the server did not complete the TLS handshake ${within}`
            : `unreachable: no connection ${within}`,
        ),
      );
    }, timeoutMs);

    socket.once("connect", () => isConnected = true);
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
    // Not `once`: the socket may still fail after the end, which is ignored.
    socket.on("error", (error: Error & { code?: string }) => {
      fail(
        isConnected && error.code === "ECONNRESET"
          ? new HandshakeError("handshake failure: the server closed the connection")
          : error,
      );
    });
  });
}

/** The chain as DER. The runtime links each certificate to its issuer, and the last to itself. */
function peerChain(socket: TLSSocket): Uint8Array<ArrayBuffer>[] {
  const chain = new Map<string, Uint8Array<ArrayBuffer>>();
  let next = socket.getPeerCertificate(true);
  while (next?.raw && !chain.has(next.fingerprint256)) {
    chain.set(next.fingerprint256, new Uint8Array(next.raw));
    next = next.issuerCertificate;
  }
  return [...chain.values()];
}

async function describeCertificate(
  { chain, refusal }: Handshake,
  { domain, port }: CertificateTarget,
  { now, ca, trustStore = createTrustStore(ca) }: CertificateCheckOptions,
): Promise<CertificateCheck> {
  const leaf = chain[0];
  if (!leaf) throw new HandshakeError("handshake failure: the server sent no certificate");
  const at = now();
  const expires = new Date(leaf.validTo);
  const names = parseAltNames(leaf.subjectAltName);
  // The runtime decides about trust: if it accepts the certificate, its issuers are not searched.
  const anchors = refusal === null ? trustAnchorsOf([leaf]) : await trustStore();
  const problems = findCertificateProblems(chain, { host: domain, at, anchors });
  // E.g. a certificate that is not valid for servers.
  if (refusal !== null && problems.length === 0) problems.push(`is refused (${refusal})`);
  return {
    domain,
    port,
    valid: problems.length === 0,
    daysRemaining: Math.floor((expires.getTime() - at.getTime()) / DAY_MS),
    issuer: formatName(leaf.issuer),
    subject: formatName(leaf.subject),
    altNames: [...names.dns, ...names.ip].slice(0, ALT_NAMES_MAX),
    validFrom: new Date(leaf.validFrom).toISOString(),
    expiresAt: expires.toISOString(),
    fingerprint: leaf.fingerprint256,
    error: problems.length === 0 ? null : `The certificate ${list(problems)}`,
  };
}

const list = (problems: readonly string[]) => new Intl.ListFormat("en-GB").format(problems);

/** Reads the trusted authorities when they are first needed. */
export type TrustStore = () => Promise<TrustAnchors>;

/** @param ca Authorities (PEM); default those of the runtime. */
export function createTrustStore(ca?: string[]): TrustStore {
  let anchors: Promise<TrustAnchors> | undefined;
  return () => anchors ??= readAnchors(ca);
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
      return []; // the runtime cannot parse it, so it cannot trust it either
    }
  });
  return trustAnchorsOf(readable);
}

/**
 * Whether the client certificate that a reverse proxy was shown is that of an agent.
 *
 * The proxy has checked that the client holds the key, which is what the handshake proves. Which
 * certificates count is decided here. A certificate is known by the hash of all its bytes, so the
 * dates that were read when it was stored are those of the one that is shown now: nothing is
 * parsed for an agent that is known.
 *
 * @module
 */

import ipaddr from "ipaddr.js";
import {
  type AgentStanding,
  selectAgentStanding,
  updateAgentSeen,
} from "../../db/enterprise/agents.ts";
import { type MtlsConfig, selectMtlsConfig } from "../../db/enterprise/mtls_config.ts";
import type { Deps } from "../deps.ts";
import { errorFields } from "../log.ts";
import {
  type Certificate,
  certificateBytes,
  CertificateError,
  clientFault,
  dateFault,
  generalFault,
  readCertificate,
} from "./certificates.ts";
import { fingerprintOf, fingerprintProblem, parseFingerprint } from "./fingerprints.ts";
import { completeAgent, enrollUnknown } from "./mtls_enrollment.ts";
import { timingSafeEqual } from "./verify_secret.ts";

type VerifyDeps = Pick<Deps, "db" | "now" | "log">;

/** What the proxy says of the client. */
export interface Presented {
  /** As they were given, in whatever form. All must be those of the same certificate. */
  fingerprints: readonly string[];
  /** PEM; likewise. */
  certificates: readonly string[];
  /** Address of the client, where it is known. */
  ip: string | null;
}

export type Verdict =
  | { verified: true; agent_id: string; hostname: string }
  | { verified: false; reason: string };

/** A verdict, and whether the client may pass. */
export interface Decision {
  verdict: Verdict;
  admitted: boolean;
  /** Of the certificate, where one could be told. */
  fingerprint: string | undefined;
}

/** Why a certificate is not verified. */
class Refusal extends Error {
  override readonly name = "Refusal";

  /** @param unknown Nobody knows the certificate, and that is all there is to say against it. */
  constructor(reason: string, readonly unknown = false) {
    super(reason);
  }
}

/** An agent that is verified all the time is noted as seen once in this time. */
const SEEN_MS = 60_000;

/** Decides about a client. */
export async function verifyClient(deps: VerifyDeps, presented: Presented): Promise<Decision> {
  const config = selectMtlsConfig(deps.db);
  let fingerprint: string | undefined;
  try {
    fingerprint = commonFingerprint(presented);
    const agent = await verifiedAgent(deps, config, fingerprint, presented);
    noteSeen(deps, agent, presented.ip);
    const verdict = { verified: true as const, agent_id: agent.id, hostname: agent.hostname };
    return { verdict, admitted: true, fingerprint };
  } catch (error) {
    const refusal = asRefusal(error);
    if (!refusal) throw error;
    const isTolerated = refusal.unknown && !config.rejectUnknownCerts;
    return {
      verdict: { verified: false, reason: refusal.message },
      admitted: !config.enforcementEnabled || isTolerated,
      fingerprint,
    };
  }
}

function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof CertificateError) return new Refusal(`The certificate ${error.message}`);
  return undefined;
}

/** The shortest form of an address; `undefined` for what is none. */
export function parseClientAddress(text: string): string | undefined {
  const isAddress = ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
  return isAddress ? ipaddr.process(text).toString() : undefined;
}

/** The agent that the client is. @throws {Refusal | CertificateError} */
async function verifiedAgent(
  deps: VerifyDeps,
  config: MtlsConfig,
  fingerprint: string,
  { certificates: [pem], ip }: Presented,
): Promise<AgentStanding> {
  const agent = selectAgentStanding(deps.db, fingerprint);
  if (!agent || agent.pending) {
    throw await unknownRefusal(deps, config, { agent, fingerprint, pem, ip });
  }
  assertAllowed(agent);
  if (!agent.hasCertificate && pem !== undefined) return await completed(deps, fingerprint, pem);
  assertInDate(deps, agent);
  return agent;
}

/** The one fingerprint of everything that was given. @throws {Refusal | CertificateError} */
function commonFingerprint({ fingerprints, certificates }: Presented): string {
  const all = [
    ...certificates.map((pem) => fingerprintOf(certificateBytes(pem))),
    ...fingerprints.map(readFingerprint),
  ];
  const [first] = all;
  if (first === undefined) throw new Refusal("The client showed no certificate");
  if (!all.slice(1).every((other) => timingSafeEqual(first, other))) {
    throw new Refusal("The fingerprints that were given are not those of one certificate");
  }
  return first;
}

function readFingerprint(text: string): string {
  const fingerprint = parseFingerprint(text);
  if (fingerprint === undefined) {
    throw new Refusal(`The fingerprint ${fingerprintProblem(text)}`);
  }
  return fingerprint;
}

/** @throws {Refusal} */
function assertAllowed({ revokedAt, enabled }: AgentStanding): void {
  if (revokedAt !== null) throw new Refusal(`The agent is revoked since ${revokedAt}`);
  if (!enabled) throw new Refusal("The agent is disabled");
}

/** @throws {Refusal} */
function assertInDate({ now }: Pick<Deps, "now">, agent: AgentStanding): void {
  const fault = dateFault(agent, now());
  if (fault !== undefined) throw new Refusal(`The certificate ${fault}`);
  const { caNotBefore: notBefore, caNotAfter: notAfter } = agent;
  const caFault = dateFault({ notBefore, notAfter }, now());
  if (caFault !== undefined) throw new Refusal(`The certificate of its CA ${caFault}`);
}

/**
 * Why a certificate that nobody knows is refused, and records it where that is wanted. One that is
 * merely unknown may be let pass, so whatever else there is against it comes first.
 *
 * @throws {Refusal | CertificateError}
 */
async function unknownRefusal(
  deps: VerifyDeps,
  { rejectUnknownCerts, autoEnroll }: MtlsConfig,
  { agent, fingerprint, pem, ip }: {
    agent: AgentStanding | undefined;
    fingerprint: string;
    pem: string | undefined;
    ip: string | null;
  },
): Promise<Refusal> {
  const unknown = new Refusal("The certificate is not that of an agent", true);
  if (rejectUnknownCerts && !autoEnroll) return unknown;
  if (agent) assertInDate(deps, agent);
  const certificate = pem === undefined ? undefined : await fitCertificate(deps, pem);
  if (!autoEnroll) return unknown;
  await tryToStore(deps, "an unknown certificate was not recorded", async () => {
    if (!agent) await enrollUnknown(deps, { fingerprint, certificate, ip });
    else if (!agent.hasCertificate && certificate) await completeAgent(deps, agent.id, certificate);
  });
  return unknown;
}

/** Reads a certificate that might become that of an agent. @throws {CertificateError} */
async function fitCertificate({ now }: Pick<Deps, "now">, pem: string): Promise<Certificate> {
  const certificate = await readCertificate(pem);
  const fault = generalFault(certificate, now()) ?? clientFault(certificate);
  if (fault !== undefined) throw new CertificateError(fault);
  return certificate;
}

/** The agent again, with what its certificate says. @throws {Refusal | CertificateError} */
async function completed(
  deps: VerifyDeps,
  fingerprint: string,
  pem: string,
): Promise<AgentStanding> {
  const certificate = await fitCertificate(deps, pem);
  await tryToStore(deps, "the certificate of an agent was not stored", async () => {
    const { id } = selectAgentStanding(deps.db, fingerprint)!;
    await completeAgent(deps, id, certificate);
  });
  // Anew, for it may have been revoked or turned off meanwhile.
  const agent = selectAgentStanding(deps.db, fingerprint)!;
  assertAllowed(agent);
  assertInDate(deps, agent);
  return agent;
}

/** A clock that was set back makes an agent look seen in the future: that is corrected at once. */
function noteSeen({ db, now, log }: VerifyDeps, agent: AgentStanding, ip: string | null): void {
  const at = now().getTime();
  const since = agent.lastSeenAt === null ? NaN : at - Date.parse(agent.lastSeenAt);
  if (since >= 0 && since < SEEN_MS) return;
  try {
    updateAgentSeen(db, agent.id, { at: new Date(at).toISOString(), ip });
  } catch (error) {
    log.warn("an agent was not noted as seen", { agentId: agent.id, ...errorFields(error) });
  }
}

/** What was decided stands also where nothing can be stored: a full disk locks nobody out. */
async function tryToStore(
  { log }: Pick<Deps, "log">,
  failure: string,
  work: () => Promise<void>,
): Promise<void> {
  try {
    await work();
  } catch (error) {
    log.warn(failure, errorFields(error));
  }
}

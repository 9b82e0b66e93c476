/**
 * Verifies that the client certificate that a reverse proxy received belongs to an agent.
 *
 * The TLS handshake has proved that the client has the private key. A certificate is identified by
 * the hash of all its bytes, so that the certificate of a known agent does not have to be parsed
 * again.
 *
 * @module
 */

import {
  type AgentStanding,
  selectAgentStanding,
  updateAgentSeen,
} from "../../../db/enterprise/agents.ts";
import { type MtlsConfig, selectMtlsConfig } from "../../../db/enterprise/mtls_config.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { timingSafeEqual } from "../../access/timing_safe_equal.ts";
import { clientFault, dateFault, generalFault } from "./certificate_faults.ts";
import {
  type Certificate,
  certificateBytes,
  CertificateError,
  readCertificate,
} from "./certificates.ts";
import { fingerprintFault, fingerprintOf, parseFingerprint } from "./fingerprints.ts";
import { completeAgent, enrollUnknown } from "./enrollment.ts";

type VerifyDeps = Pick<Deps, "db" | "now" | "log">;

/** The proxy's report about the client. All values must belong to the same certificate. */
interface Presented {
  /** In any format of {@linkcode parseFingerprint}. */
  fingerprints: readonly string[];
  /** PEM. */
  certificates: readonly string[];
  /** Address of the client; `null` if the proxy does not report it. */
  ip: string | null;
}

type Verdict =
  | { verified: true; agent_id: string; hostname: string }
  | { verified: false; reason: string };

/** The response to the proxy. */
export interface Decision {
  verdict: Verdict;
  /** Whether the client is admitted. Depending on the settings, this includes unverified clients. */
  admitted: boolean;
  /** `undefined` if no certificate was recognized. */
  fingerprint: string | undefined;
}

/** The reason why a certificate is not verified. */
class Refusal extends Error {
  override readonly name = "Refusal";

  /** @param isUnknown Whether the only fault is that no agent has the certificate. */
  constructor(reason: string, readonly isUnknown = false) {
    super(reason);
  }
}

/** Minimum interval between updates of `last_seen_at`. */
const SEEN_MS = 60_000;

/** Decides whether a client is verified and whether it is admitted. */
export async function verifyClient(deps: VerifyDeps, presented: Presented): Promise<Decision> {
  const config = selectMtlsConfig(deps.db);
  let fingerprint: string | undefined;
  try {
    fingerprint = commonFingerprint(presented);
    const agent = await verifiedAgent(deps, config, fingerprint, presented);
    updateLastSeen(deps, agent, presented.ip);
    const verdict = { verified: true as const, agent_id: agent.id, hostname: agent.hostname };
    return { verdict, admitted: true, fingerprint };
  } catch (error) {
    const refusal = asRefusal(error);
    if (!refusal) throw error;
    const isTolerated = refusal.isUnknown && !config.reject_unknown_certs;
    return {
      verdict: { verified: false, reason: refusal.message },
      admitted: !config.enforcement_enabled || isTolerated,
      fingerprint,
    };
  }
}

function asRefusal(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof CertificateError) return new Refusal(`The certificate ${error.message}`);
  return undefined;
}

/** Returns the agent of the certificate. @throws {Refusal | CertificateError} */
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
  if (agent.has_certificate || pem === undefined) {
    assertInDate(deps, agent);
    return agent;
  }
  const certificate = await readClientCertificate(deps, pem);
  await tryToStore(deps, "agent certificate not stored", async () => {
    await completeAgent(deps, agent.id, certificate);
  });
  // Read again, because the agent may have been revoked or disabled in the meantime.
  const completed = selectAgentStanding(deps.db, fingerprint)!;
  assertAllowed(completed);
  assertInDate(deps, completed);
  return completed;
}

/** Returns the fingerprint of the presented certificate. @throws {Refusal | CertificateError} */
function commonFingerprint({ fingerprints, certificates }: Presented): string {
  const all = [
    ...certificates.map((pem) => fingerprintOf(certificateBytes(pem))),
    ...fingerprints.map(readFingerprint),
  ];
  const [first] = all;
  if (first === undefined) throw new Refusal("The client did not present a certificate");
  if (!all.every((other) => timingSafeEqual(first, other))) {
    throw new Refusal("The fingerprints belong to different certificates");
  }
  return first;
}

function readFingerprint(text: string): string {
  const fingerprint = parseFingerprint(text);
  if (fingerprint === undefined) {
    throw new Refusal(`The fingerprint ${fingerprintFault(text)}`);
  }
  return fingerprint;
}

/** @throws {Refusal} */
function assertAllowed({ revoked_at, enabled }: AgentStanding): void {
  if (revoked_at !== null) throw new Refusal(`The agent was revoked at ${revoked_at}`);
  if (!enabled) throw new Refusal("The agent is disabled");
}

/** @throws {Refusal} */
function assertInDate({ now }: Pick<Deps, "now">, agent: AgentStanding): void {
  const fault = dateFault(agent, now());
  if (fault !== undefined) throw new Refusal(`The certificate ${fault}`);
  const { ca_not_before: not_before, ca_not_after: not_after } = agent;
  const caFault = dateFault({ not_before, not_after }, now());
  if (caFault !== undefined) throw new Refusal(`The CA certificate ${caFault}`);
}

/**
 * Refuses a certificate that no agent has, and records it if `auto_enroll` is set. Other faults are
 * reported first, because the settings may admit certificates that are only unknown.
 *
 * @throws {Refusal | CertificateError}
 */
async function unknownRefusal(
  deps: VerifyDeps,
  { reject_unknown_certs, auto_enroll }: MtlsConfig,
  { agent, fingerprint, pem, ip }: {
    agent: AgentStanding | undefined;
    fingerprint: string;
    pem: string | undefined;
    ip: string | null;
  },
): Promise<Refusal> {
  const unknown = new Refusal("The certificate does not belong to an agent", true);
  if (reject_unknown_certs && !auto_enroll) return unknown;
  if (agent) assertInDate(deps, agent);
  const certificate = pem === undefined ? undefined : await readClientCertificate(deps, pem);
  if (!auto_enroll) return unknown;
  await tryToStore(deps, "unknown certificate not recorded", async () => {
    if (!agent) await enrollUnknown(deps, { fingerprint, certificate, ip });
    else if (!agent.has_certificate && certificate) {
      await completeAgent(deps, agent.id, certificate);
    }
  });
  return unknown;
}

/** Reads a certificate and checks that a client can use it. @throws {CertificateError} */
async function readClientCertificate(
  { now }: Pick<Deps, "now">,
  pem: string,
): Promise<Certificate> {
  const certificate = await readCertificate(pem);
  const fault = generalFault(certificate, now()) ?? clientFault(certificate);
  if (fault !== undefined) throw new CertificateError(fault);
  return certificate;
}

/** Stores the time and address of the verification, unless the last one was recent. */
function updateLastSeen(
  { db, now, log }: VerifyDeps,
  agent: AgentStanding,
  ip: string | null,
): void {
  const at = now().getTime();
  const since = agent.last_seen_at === null ? NaN : at - Date.parse(agent.last_seen_at);
  // A time in the future (the clock was set back) is corrected immediately.
  if (since >= 0 && since < SEEN_MS) return;
  try {
    updateAgentSeen(db, agent.id, { at: new Date(at).toISOString(), ip });
  } catch (error) {
    log.warn("agent last-seen time not stored", { agentId: agent.id, ...errorFields(error) });
  }
}

/** Logs a failure to store, so that agents are admitted even if the disk is full. */
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

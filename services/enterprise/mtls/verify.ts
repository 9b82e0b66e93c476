/**
 * Decides whether the client certificate that a reverse proxy was shown belongs to an agent.
 *
 * The TLS handshake with the proxy has proved that the client holds the certificate's key. Which
 * certificates are accepted is decided here. A certificate is recognized by the hash of all its
 * bytes, so what was read from it when it was stored still holds: for a known agent nothing has to
 * be parsed.
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
import { timingSafeEqual } from "../../auth/timing_safe_equal.ts";
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

/** What the proxy says of the client. All of it must be about the same certificate. */
export interface Presented {
  /** In any form that {@linkcode parseFingerprint} reads. */
  fingerprints: readonly string[];
  /** PEM. */
  certificates: readonly string[];
  /** Address of the client; `null` where the proxy does not tell it. */
  ip: string | null;
}

export type Verdict =
  | { verified: true; agent_id: string; hostname: string }
  | { verified: false; reason: string };

/** What the proxy is answered. */
export interface Decision {
  verdict: Verdict;
  /** Whether the client may pass, which one that is not verified may if the settings say so. */
  admitted: boolean;
  /** `undefined` where no certificate could be recognized. */
  fingerprint: string | undefined;
}

/** Why a certificate is not verified. */
class Refusal extends Error {
  override readonly name = "Refusal";

  /** @param isUnknown Whether nothing else is wrong than that no agent has the certificate. */
  constructor(reason: string, readonly isUnknown = false) {
    super(reason);
  }
}

/** How often it is stored that an agent was seen, however often it is verified. */
const SEEN_MS = 60_000;

/** Decides whether a client is verified, and whether it may pass. */
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

/** The agent whose certificate it is. @throws {Refusal | CertificateError} */
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
  const certificate = await fitCertificate(deps, pem);
  await tryToStore(deps, "the certificate of an agent was not stored", async () => {
    await completeAgent(deps, agent.id, certificate);
  });
  // Read again: it may have been revoked or disabled in the meantime.
  const completed = selectAgentStanding(deps.db, fingerprint)!;
  assertAllowed(completed);
  assertInDate(deps, completed);
  return completed;
}

/** The fingerprint of the certificate that was given. @throws {Refusal | CertificateError} */
function commonFingerprint({ fingerprints, certificates }: Presented): string {
  const all = [
    ...certificates.map((pem) => fingerprintOf(certificateBytes(pem))),
    ...fingerprints.map(readFingerprint),
  ];
  const [first] = all;
  if (first === undefined) throw new Refusal("The client showed no certificate");
  if (!all.every((other) => timingSafeEqual(first, other))) {
    throw new Refusal("The fingerprints that were given are not those of one certificate");
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
  if (revoked_at !== null) throw new Refusal(`The agent is revoked since ${revoked_at}`);
  if (!enabled) throw new Refusal("The agent is disabled");
}

/** @throws {Refusal} */
function assertInDate({ now }: Pick<Deps, "now">, agent: AgentStanding): void {
  const fault = dateFault(agent, now());
  if (fault !== undefined) throw new Refusal(`The certificate ${fault}`);
  const { ca_not_before: not_before, ca_not_after: not_after } = agent;
  const caFault = dateFault({ not_before, not_after }, now());
  if (caFault !== undefined) throw new Refusal(`The certificate of its CA ${caFault}`);
}

/**
 * Why a certificate that no agent has is refused. It is recorded where `auto_enroll` asks for that.
 *
 * The settings may let a certificate pass that is merely unknown. So whatever else is wrong with it
 * is looked for first, and is the reason then.
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
  const unknown = new Refusal("The certificate is not that of an agent", true);
  if (reject_unknown_certs && !auto_enroll) return unknown;
  if (agent) assertInDate(deps, agent);
  const certificate = pem === undefined ? undefined : await fitCertificate(deps, pem);
  if (!auto_enroll) return unknown;
  await tryToStore(deps, "an unknown certificate was not recorded", async () => {
    if (!agent) await enrollUnknown(deps, { fingerprint, certificate, ip });
    else if (!agent.has_certificate && certificate) {
      await completeAgent(deps, agent.id, certificate);
    }
  });
  return unknown;
}

/** Reads a certificate that an agent could have. @throws {CertificateError} */
async function fitCertificate({ now }: Pick<Deps, "now">, pem: string): Promise<Certificate> {
  const certificate = await readCertificate(pem);
  const fault = generalFault(certificate, now()) ?? clientFault(certificate);
  if (fault !== undefined) throw new CertificateError(fault);
  return certificate;
}

/** Stores that an agent was seen, unless it was seen shortly before. */
function noteSeen({ db, now, log }: VerifyDeps, agent: AgentStanding, ip: string | null): void {
  const at = now().getTime();
  const since = agent.last_seen_at === null ? NaN : at - Date.parse(agent.last_seen_at);
  // After the clock was set back, the last time lies ahead: it is corrected at once.
  if (since >= 0 && since < SEEN_MS) return;
  try {
    updateAgentSeen(db, agent.id, { at: new Date(at).toISOString(), ip });
  } catch (error) {
    log.warn("an agent was not noted as seen", { agentId: agent.id, ...errorFields(error) });
  }
}

/** Logs a failure and goes on: where nothing can be stored (a full disk) agents still get in. */
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

/**
 * Certificates that nobody knows, recorded as agents that wait for a decision.
 *
 * @module
 */

import {
  countPendingAgents,
  insertAgent,
  selectAgentStanding,
  updateAgentCertificate,
} from "../../db/enterprise/agents.ts";
import {
  selectCaCertificate,
  selectCaCertificatesBySubject,
} from "../../db/enterprise/ca_certificates.ts";
import type { Deps } from "../deps.ts";
import { type Certificate, isSignedBy, readCertificate } from "./certificates.ts";

/** Most agents that wait for a decision: whoever reaches the proxy can make up certificates. */
export const PENDING_MAX = 1_000;

/** Most authorities of the same name that are tried. */
const AUTHORITIES_MAX = 10;

const NO_CERTIFICATE = {
  certificate: null,
  subject: null,
  issuer: null,
  serial: null,
  notBefore: null,
  notAfter: null,
} as const;

/**
 * Records a fingerprint as a disabled agent, once, and no more than {@linkcode PENDING_MAX}.
 *
 * @param certificate Already found fit; `undefined` where only the fingerprint was shown.
 */
export async function enrollUnknown(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  { fingerprint, certificate, ip }: {
    fingerprint: string;
    certificate: Certificate | undefined;
    ip: string | null;
  },
): Promise<void> {
  if (countPendingAgents(db) >= PENDING_MAX) return;
  const caId = certificate ? await authorityOf({ db }, certificate) : null;
  // Others may have been quicker.
  if (selectAgentStanding(db, fingerprint) || countPendingAgents(db) >= PENDING_MAX) return;

  const at = now().toISOString();
  const id = crypto.randomUUID();
  insertAgent(db, {
    ...(certificate?.facts ?? NO_CERTIFICATE),
    id,
    // Not the name that the certificate claims, which anybody may have made up.
    hostname: `unknown-${fingerprint.slice("sha256:".length).slice(0, 16)}`,
    description: "Recorded by auto_enroll",
    tags: [],
    caId,
    fingerprint,
    enabled: false,
    pending: true,
    lastSeenAt: at,
    lastSeenIp: ip,
    createdAt: at,
    updatedAt: at,
    revokedAt: null,
  });
  log.info("unknown certificate recorded", { agentId: id, fingerprint, ip });
}

/** Adds what a certificate says to an agent of which only the fingerprint was known. */
export async function completeAgent(
  { db }: Pick<Deps, "db">,
  id: string,
  certificate: Certificate,
): Promise<void> {
  const caId = await authorityOf({ db }, certificate);
  updateAgentCertificate(db, id, { ...certificate.facts, caId });
}

/** The stored authority that signed a certificate, or `null`. */
async function authorityOf(
  { db }: Pick<Deps, "db">,
  certificate: Certificate,
): Promise<string | null> {
  const { issuer } = certificate.facts;
  for (const ca of selectCaCertificatesBySubject(db, issuer, AUTHORITIES_MAX)) {
    const isIssuer = await isSignedBy(certificate, await readCertificate(ca.certificate));
    // One that was deleted while its signature was checked is nobody's authority any more.
    if (isIssuer && selectCaCertificate(db, ca.id)) {
      return ca.id;
    }
  }
  return null;
}

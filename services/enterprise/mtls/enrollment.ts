/**
 * Recording the certificates that clients show: unknown ones as pending agents, which wait for an
 * administrator's decision.
 *
 * @module
 */

import {
  countPendingAgents,
  insertAgent,
  selectAgentStanding,
  updateAgentCertificate,
} from "../../../db/enterprise/agents.ts";
import {
  selectCaCertificate,
  selectCaCertificatesBySubject,
} from "../../../db/enterprise/ca_certificates.ts";
import type { Deps } from "../../deps.ts";
import { type Certificate, isSignedBy, readCertificate } from "./certificates.ts";

/** Most pending agents. There has to be a limit: anybody can make up certificates and show them. */
export const PENDING_MAX = 1_000;

/** Most certificate authorities of the same name whose keys are tried. */
const AUTHORITIES_MAX = 10;

const NO_CERTIFICATE = {
  certificate: null,
  subject: null,
  issuer: null,
  serial: null,
  not_before: null,
  not_after: null,
} as const;

/**
 * Records an unknown certificate as a pending agent, which is disabled. Nothing happens when there
 * are {@linkcode PENDING_MAX} of them already.
 *
 * @param certificate Found fit for an agent; `undefined` where only the fingerprint was shown.
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
  const ca_id = certificate ? await authorityOf(db, certificate) : null;
  // Read again: other requests were handled while the signature was checked.
  if (selectAgentStanding(db, fingerprint) || countPendingAgents(db) >= PENDING_MAX) return;

  const at = now().toISOString();
  const id = crypto.randomUUID();
  insertAgent(db, {
    ...(certificate?.facts ?? NO_CERTIFICATE),
    id,
    // Not the name in the certificate, which anybody may have made up.
    hostname: `unknown-${fingerprint.slice("sha256:".length).slice(0, 16)}`,
    description: "Recorded by auto_enroll",
    tags: [],
    ca_id,
    fingerprint,
    enabled: false,
    pending: true,
    last_seen_at: at,
    last_seen_ip: ip,
    created_at: at,
    updated_at: at,
    revoked_at: null,
  });
  log.info("unknown certificate recorded", { agentId: id, fingerprint, ip });
}

/** Adds what a certificate says to an agent of which only the fingerprint was known. */
export async function completeAgent(
  { db }: Pick<Deps, "db">,
  id: string,
  certificate: Certificate,
): Promise<void> {
  const ca_id = await authorityOf(db, certificate);
  updateAgentCertificate(db, id, { ...certificate.facts, ca_id });
}

/** The id of the stored certificate authority that signed a certificate, or `null`. */
async function authorityOf(db: Deps["db"], certificate: Certificate): Promise<string | null> {
  const { issuer } = certificate.facts;
  for (const ca of selectCaCertificatesBySubject(db, issuer, AUTHORITIES_MAX)) {
    const isIssuer = await isSignedBy(certificate, await readCertificate(ca.certificate));
    // It may have been deleted while the signature was checked.
    if (isIssuer && selectCaCertificate(db, ca.id)) return ca.id;
  }
  return null;
}

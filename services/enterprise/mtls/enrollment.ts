/**
 * Enrollment: records unknown client certificates as pending agents, which an administrator accepts
 * or rejects.
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

/** Maximum number of pending agents, because every client can present new certificates. */
export const PENDING_MAX = 1_000;

/** Maximum number of CAs with the same subject whose keys are tried. */
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
 * Records an unknown certificate as a pending, disabled agent. Does nothing at the limit of
 * {@linkcode PENDING_MAX}.
 *
 * @param certificate A suitable certificate; `undefined` if only the fingerprint is known.
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
  const ca_id = certificate ? await findAuthority(db, certificate) : null;
  // Read again, because other requests may have run while the signature was verified.
  if (selectAgentStanding(db, fingerprint) || countPendingAgents(db) >= PENDING_MAX) return;

  const at = now().toISOString();
  const id = crypto.randomUUID();
  insertAgent(db, {
    ...(certificate?.facts ?? NO_CERTIFICATE),
    id,
    // Not the subject of the certificate, which the client can choose.
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

/** Adds the fields of a certificate to an agent of which only the fingerprint was known. */
export async function completeAgent(
  { db }: Pick<Deps, "db">,
  id: string,
  certificate: Certificate,
): Promise<void> {
  const ca_id = await findAuthority(db, certificate);
  updateAgentCertificate(db, id, { ...certificate.facts, ca_id });
}

/** Finds the stored CA that signed a certificate. @returns Its id, or `null`. */
async function findAuthority(db: Deps["db"], certificate: Certificate): Promise<string | null> {
  const { issuer } = certificate.facts;
  for (const ca of selectCaCertificatesBySubject(db, issuer, AUTHORITIES_MAX)) {
    const isIssuer = await isSignedBy(certificate, await readCertificate(ca.certificate));
    // The CA may have been deleted while the signature was verified.
    if (isIssuer && selectCaCertificate(db, ca.id)) return ca.id;
  }
  return null;
}

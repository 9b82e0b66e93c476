/**
 * The authorities that sign the certificates of agents.
 *
 * @module
 */

import { countAgentsOfCa, updateRevokedAgentsWithoutCa } from "../../db/enterprise/agents.ts";
import {
  type CaCertificate,
  countCaCertificates,
  deleteCaCertificate,
  insertCaCertificate,
  selectCaCertificate,
  selectCaCertificateByFingerprint,
  selectCaCertificates,
} from "../../db/enterprise/ca_certificates.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import { authorityFault } from "./certificates.ts";
import { givenCertificate, unfitCertificate } from "./given_certificate.ts";

/** One authority as shown. */
export interface Ca {
  id: string;
  name: string;
  certificate: string;
  fingerprint: string;
  subject: string;
  issuer: string;
  serial: string;
  not_before: string;
  not_after: string;
  created_at: string;
}

/** Newest first. */
export function listCas(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { cas: Ca[]; total: number; limit: number; offset: number } {
  const cas = selectCaCertificates(db, { limit, offset }).map(shown);
  return { cas, total: countCaCertificates(db), limit, offset };
}

/**
 * Stores an authority. It is trusted because an administrator says so; who signed it does not
 * matter (RFC 5280, 6.1).
 *
 * @throws {AppError} `invalid` for a certificate that is unfit, `conflict` for one that is known.
 */
export async function createCa(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  { name, certificate: pem }: { name: string; certificate: string },
): Promise<Ca> {
  const certificate = await givenCertificate(pem, now());
  const fault = authorityFault(certificate);
  if (fault !== undefined) throw unfitCertificate(fault);

  const { facts } = certificate;
  const known = selectCaCertificateByFingerprint(db, facts.fingerprint);
  if (known) {
    throw new AppError("conflict", `This certificate is already stored as ${named(known)}`);
  }
  const ca = { ...facts, id: crypto.randomUUID(), name, createdAt: now().toISOString() };
  insertCaCertificate(db, ca);
  log.info("certificate authority added", { caId: ca.id, fingerprint: ca.fingerprint });
  return shown(ca);
}

/**
 * Deletes an authority on which no agent relies; revoked ones do not.
 *
 * @throws {AppError} `not_found`, or `conflict` while agents rely on it.
 */
export function removeCa({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  db.transaction(() => {
    const ca = selectCaCertificate(db, id);
    if (!ca) throw notFound("CA certificate", id);
    const agents = countAgentsOfCa(db, id);
    if (agents > 0) {
      const rely = agents === 1 ? "1 agent relies" : `${agents} agents rely`;
      throw new AppError("conflict", `${rely} on ${named(ca)}; revoke them first`);
    }
    updateRevokedAgentsWithoutCa(db, id);
    deleteCaCertificate(db, id);
  });
  log.info("certificate authority deleted", { caId: id });
}

const named = ({ name, id }: CaCertificate) => `the CA ${name} (${id})`;

function shown({ notBefore, notAfter, createdAt, ...rest }: CaCertificate): Ca {
  return { ...rest, not_before: notBefore, not_after: notAfter, created_at: createdAt };
}

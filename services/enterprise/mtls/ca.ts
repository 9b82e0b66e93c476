/**
 * The certificate authorities (CAs) that sign the certificates of agents.
 *
 * @module
 */

import { countAgentsOfCa, updateRevokedAgentsWithoutCa } from "../../../db/enterprise/agents.ts";
import {
  type CaCertificate,
  countCaCertificates,
  deleteCaCertificate,
  insertCaCertificate,
  selectCaCertificate,
  selectCaCertificateByFingerprint,
  selectCaCertificates,
} from "../../../db/enterprise/ca_certificates.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { authorityFault } from "./certificate_faults.ts";
import { givenCertificate } from "./given_certificate.ts";

/** Newest first. */
export function listCas(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { cas: CaCertificate[]; total: number; limit: number; offset: number } {
  const cas = selectCaCertificates(db, { limit, offset });
  return { cas, total: countCaCertificates(db), limit, offset };
}

/**
 * Stores a certificate authority. It is trusted because an administrator says so; who signed its
 * own certificate does not matter (RFC 5280, 6.1).
 *
 * @throws {AppError} `invalid` for a certificate that is unfit; `conflict` for one that is stored
 * already.
 */
export async function createCa(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  { name, certificate: pem }: { name: string; certificate: string },
): Promise<CaCertificate> {
  const { facts } = await givenCertificate(pem, now(), authorityFault);
  const known = selectCaCertificateByFingerprint(db, facts.fingerprint);
  if (known) {
    throw new AppError("conflict", `This certificate is already stored as ${named(known)}`);
  }
  const ca = { ...facts, id: crypto.randomUUID(), name, created_at: now().toISOString() };
  insertCaCertificate(db, ca);
  log.info("certificate authority added", { caId: ca.id, fingerprint: ca.fingerprint });
  return ca;
}

/**
 * Deletes a certificate authority that no agent needs. Revoked agents do not need theirs; they stay
 * listed without it.
 *
 * @throws {AppError} `not_found`; `conflict` while agents rely on it.
 */
export function removeCa({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  db.transaction(() => {
    const ca = selectCaCertificate(db, id);
    if (!ca) throw notFound("CA", id);
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

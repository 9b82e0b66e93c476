/** The certificate authorities (CAs) that sign the certificates of agents. @module */

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
import type { Page, Paged } from "../../../db/page.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { authorityFault } from "./certificate_faults.ts";
import { readSubmittedCertificate } from "./submitted_certificate.ts";

/** Lists CAs, newest first. */
export function listCas({ db }: Pick<Deps, "db">, page: Page): { cas: CaCertificate[] } & Paged {
  const cas = selectCaCertificates(db, page);
  return { cas, total: countCaCertificates(db), ...page };
}

/**
 * Stores a certificate authority as a trust anchor. The issuer of its certificate is not checked
 * (RFC 5280, 6.1).
 *
 * @throws {AppError} `invalid` for an unsuitable certificate; `conflict` for one that is already
 * stored.
 */
export async function createCa(
  { db, now, log }: Pick<Deps, "db" | "now" | "log">,
  { name, certificate: pem }: { name: string; certificate: string },
): Promise<CaCertificate> {
  const { facts } = await readSubmittedCertificate(pem, now(), authorityFault);
  const known = selectCaCertificateByFingerprint(db, facts.fingerprint);
  if (known) {
    throw new AppError("conflict", `This certificate is already stored as ${labelOf(known)}`);
  }
  const ca = { ...facts, id: crypto.randomUUID(), name, created_at: now().toISOString() };
  insertCaCertificate(db, ca);
  log.info("certificate authority added", { caId: ca.id, fingerprint: ca.fingerprint });
  return ca;
}

/**
 * Deletes a certificate authority without active agents. Revoked agents stay listed without a CA.
 *
 * @throws {AppError} `not_found`; `conflict` while active agents use it.
 */
export function removeCa({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  db.transaction(() => {
    const ca = requireFound(selectCaCertificate(db, id), "CA", id);
    const agents = countAgentsOfCa(db, id);
    if (agents > 0) {
      const users = agents === 1 ? "1 agent uses" : `${agents} agents use`;
      throw new AppError("conflict", `${users} ${labelOf(ca)}; revoke them first`);
    }
    updateRevokedAgentsWithoutCa(db, id);
    deleteCaCertificate(db, id);
  });
  log.info("certificate authority deleted", { caId: id });
}

const labelOf = ({ name, id }: CaCertificate) => `the CA ${name} (${id})`;

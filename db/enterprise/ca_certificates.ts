/**
 * The `ca_certificates` table: authorities that sign the certificates of agents.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One authority as stored. Times are ISO 8601, UTC. */
export interface CaCertificate {
  id: string;
  name: string;
  /** PEM. */
  certificate: string;
  /** `sha256:` and 64 hex digits in lower case; unique. */
  fingerprint: string;
  subject: string;
  issuer: string;
  /** Hex. */
  serial: string;
  notBefore: string;
  notAfter: string;
  createdAt: string;
}

const COLUMNS = `
  id, name, certificate, fingerprint, subject, issuer, serial, not_before AS notBefore,
  not_after AS notAfter, created_at AS createdAt`;

/** Newest first. */
export function selectCaCertificates(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): CaCertificate[] {
  return db.all<CaCertificate>(
    `SELECT ${COLUMNS} FROM ca_certificates ORDER BY created_at DESC, id
     LIMIT :limit OFFSET :offset`,
    { limit, offset },
  );
}

export function countCaCertificates(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM ca_certificates")!.n;
}

/** One authority, or `undefined` when the id is unknown. */
export function selectCaCertificate(db: Database, id: string): CaCertificate | undefined {
  return db.get<CaCertificate>(`SELECT ${COLUMNS} FROM ca_certificates WHERE id = :id`, { id });
}

export function selectCaCertificateByFingerprint(
  db: Database,
  fingerprint: string,
): CaCertificate | undefined {
  return db.get<CaCertificate>(
    `SELECT ${COLUMNS} FROM ca_certificates WHERE fingerprint = :fingerprint`,
    { fingerprint },
  );
}

/** Those of a name, newest first; several can share one. */
export function selectCaCertificatesBySubject(
  db: Database,
  subject: string,
  limit: number,
): CaCertificate[] {
  return db.all<CaCertificate>(
    `SELECT ${COLUMNS} FROM ca_certificates WHERE subject = :subject
     ORDER BY created_at DESC, id LIMIT :limit`,
    { subject, limit },
  );
}

export function insertCaCertificate(db: Database, ca: CaCertificate): void {
  db.run(
    `INSERT INTO ca_certificates
       (id, name, certificate, fingerprint, subject, issuer, serial, not_before, not_after,
        created_at)
     VALUES (:id, :name, :certificate, :fingerprint, :subject, :issuer, :serial, :notBefore,
       :notAfter, :createdAt)`,
    { ...ca },
  );
}

/** Only while no agent names it. @returns Whether the id was known. */
export function deleteCaCertificate(db: Database, id: string): boolean {
  return db.run("DELETE FROM ca_certificates WHERE id = :id", { id }) > 0;
}

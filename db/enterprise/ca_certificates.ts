/**
 * The `ca_certificates` table: certificate authorities (CAs) that sign the certificates of agents.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One certificate authority as stored. Times are ISO 8601, UTC. */
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
  not_before: string;
  not_after: string;
  created_at: string;
}

const COLUMNS = `
  id, name, certificate, fingerprint, subject, issuer, serial, not_before, not_after, created_at`;

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

/** One certificate authority, or `undefined` when the id is unknown. */
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

/** The authorities with this name, newest first: several can have the same one. */
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
    `INSERT INTO ca_certificates (${COLUMNS})
     VALUES (:id, :name, :certificate, :fingerprint, :subject, :issuer, :serial, :not_before,
       :not_after, :created_at)`,
    { ...ca },
  );
}

/** @throws The SQLite error while an agent refers to it. */
export function deleteCaCertificate(db: Database, id: string): void {
  db.run("DELETE FROM ca_certificates WHERE id = :id", { id });
}

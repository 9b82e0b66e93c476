/**
 * The `ca_certificates` table: certificate authorities (CAs) that sign the certificates of agents.
 *
 * @module
 */

import { table } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";

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

const authorities = table<CaCertificate>("ca_certificates", {
  id: "value",
  name: "value",
  certificate: "value",
  fingerprint: "value",
  subject: "value",
  issuer: "value",
  serial: "value",
  not_before: "value",
  not_after: "value",
  created_at: "value",
});

export const {
  find: selectCaCertificate,
  count: countCaCertificates,
  insert: insertCaCertificate,
  /** @throws The SQLite error while an agent refers to it. */
  delete: deleteCaCertificate,
} = authorities;

/** Newest first. */
export function selectCaCertificates(db: Database, page: Page): CaCertificate[] {
  return authorities.select(db, "ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset", {
    ...page,
  });
}

export function selectCaCertificateByFingerprint(
  db: Database,
  fingerprint: string,
): CaCertificate | undefined {
  return authorities.selectOne(db, "WHERE fingerprint = :fingerprint", { fingerprint });
}

/** The authorities with this subject, newest first: subjects are not unique. */
export function selectCaCertificatesBySubject(
  db: Database,
  subject: string,
  limit: number,
): CaCertificate[] {
  return authorities.select(
    db,
    "WHERE subject = :subject ORDER BY created_at DESC, id LIMIT :limit",
    { subject, limit },
  );
}

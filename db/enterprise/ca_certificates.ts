/**
 * The `ca_certificates` table: certificate authorities (CAs) that sign the certificates of agents.
 *
 * @module
 */

import { type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";

const authorities = table("ca_certificates", {
  id: text(),
  name: text(),
  /** PEM. */
  certificate: text(),
  /** `sha256:` and 64 hex digits in lower case; unique. */
  fingerprint: text(),
  subject: text(),
  issuer: text(),
  /** Hex. */
  serial: text(),
  not_before: text(),
  not_after: text(),
  created_at: text(),
}, { order: "created_at DESC, id" });

/** One certificate authority as stored. Times are ISO 8601, UTC. */
export type CaCertificate = Row<typeof authorities>;

export const {
  find: selectCaCertificate,
  count: countCaCertificates,
  insert: insertCaCertificate,
  /** @throws The SQLite error while an agent refers to it. */
  delete: deleteCaCertificate,
  /** Newest first. */
  page: selectCaCertificates,
} = authorities;

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

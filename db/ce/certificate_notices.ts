/**
 * The `certificate_notices` table: what was told about certificates that are about to expire.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** A certificate where it is in use. */
export interface SeenCertificate {
  domain: string;
  port: number;
  fingerprint: string;
}

/** The lowest threshold that was told, in days, or `undefined`. */
export function selectToldThreshold(
  db: Database,
  { domain, port, fingerprint }: SeenCertificate,
): number | undefined {
  return db.get<{ days: number }>(
    `SELECT threshold_days AS days FROM certificate_notices
     WHERE domain = :domain AND port = :port AND fingerprint = :fingerprint`,
    { domain, port, fingerprint },
  )?.days;
}

/** Sets what was told last, in place of the former threshold. */
export function upsertToldThreshold(
  db: Database,
  notice: SeenCertificate & { thresholdDays: number; expiresAt: string },
): void {
  db.run(
    `INSERT INTO certificate_notices (domain, port, fingerprint, threshold_days, expires_at)
     VALUES (:domain, :port, :fingerprint, :thresholdDays, :expiresAt)
     ON CONFLICT (domain, port, fingerprint)
     DO UPDATE SET threshold_days = excluded.threshold_days, expires_at = excluded.expires_at`,
    { ...notice },
  );
}

/** @returns How many went. */
export function deleteNoticesExpiredBefore(db: Database, at: string): number {
  return db.run("DELETE FROM certificate_notices WHERE expires_at < :at", { at });
}

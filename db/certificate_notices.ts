/**
 * The `certificate_notices` table: notices sent about certificates that will expire soon.
 *
 * @module
 */

import type { Database } from "./database.ts";

/** A certificate and where it is used. */
interface SeenCertificate {
  domain: string;
  port: number;
  fingerprint: string;
}

/** The lowest threshold that a notice was sent for, in days, or `undefined`. */
export function selectNoticeThreshold(
  db: Database,
  { domain, port, fingerprint }: SeenCertificate,
): number | undefined {
  return db.get<{ days: number }>(
    `SELECT threshold_days AS days FROM certificate_notices
     WHERE domain = :domain AND port = :port AND fingerprint = :fingerprint`,
    { domain, port, fingerprint },
  )?.days;
}

export function upsertNoticeThreshold(
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

/** @returns How many were deleted. */
export function deleteNoticesExpiredBefore(db: Database, at: string): number {
  return db.run("DELETE FROM certificate_notices WHERE expires_at < :at", { at });
}

/** Notices about certificates that are about to expire. @module */

import {
  deleteNoticesExpiredBefore,
  selectNoticeThreshold,
  upsertNoticeThreshold,
} from "../../db/certificate_notices.ts";
import { emit, type EmitDeps } from "../events/emit.ts";
import type { CertificateCheck } from "./tls.ts";

/** Remaining days at which a notice is sent, once each per certificate. */
const NOTICE_DAYS: readonly number[] = [30, 14, 7, 3, 1];

/** Time for which notices are kept after the certificate expired, in milliseconds. */
const RETENTION_MS = 365 * 24 * 60 * 60 * 1000;

/**
 * Emits `certificate.expiring` for each certificate that passed a threshold of
 * {@linkcode NOTICE_DAYS} since its last notice, once even if it passed several. The threshold is
 * stored together with the event. Checks without a certificate are skipped.
 */
export function emitExpiryNotices(deps: EmitDeps, checks: readonly CertificateCheck[]): void {
  const { db, now } = deps;
  for (const { domain, port, fingerprint, daysRemaining, expiresAt } of checks) {
    if (fingerprint === null || daysRemaining === null || expiresAt === null) continue;
    const thresholdDays = NOTICE_DAYS.findLast((days) => daysRemaining <= days);
    if (thresholdDays === undefined) continue;
    const certificate = { domain, port, fingerprint };
    const last = selectNoticeThreshold(db, certificate);
    if (last !== undefined && last <= thresholdDays) continue;
    emit(
      deps,
      "certificate.expiring",
      { domain, port, daysRemaining, expiresAt },
      () => upsertNoticeThreshold(db, { ...certificate, thresholdDays, expiresAt }),
    );
  }
  deleteNoticesExpiredBefore(db, new Date(now().getTime() - RETENTION_MS).toISOString());
}

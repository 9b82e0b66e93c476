/**
 * Telling in time that a certificate is about to expire.
 *
 * @module
 */

import {
  deleteNoticesExpiredBefore,
  selectToldThreshold,
  upsertToldThreshold,
} from "../../../db/ce/certificate_notices.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import type { CertificateCheck } from "./tls.ts";

/** A notice goes out when no more than this many days remain; each once per certificate. */
const NOTICE_DAYS: readonly number[] = [30, 14, 7, 3, 1];

/** An expired certificate that is still in use is remembered for this long, in milliseconds. */
const REMEMBERED_MS = 365 * 24 * 60 * 60 * 1000;

/**
 * Emits `certificate.expiring` for each certificate that came below another of
 * {@linkcode NOTICE_DAYS} since it was last told about, once however many it passed. What was told
 * is stored together with the event.
 *
 * @param checks As `checkCertificates()` gives them; what was not seen is left out.
 */
export function noticeExpiringCertificates(
  deps: EmitDeps,
  checks: readonly CertificateCheck[],
): void {
  const { db, now } = deps;
  for (const { domain, port, fingerprint, daysRemaining, expiresAt } of checks) {
    if (fingerprint === null || daysRemaining === null || expiresAt === null) continue;
    const thresholdDays = NOTICE_DAYS.findLast((days) => daysRemaining <= days);
    if (thresholdDays === undefined) continue;
    const seen = { domain, port, fingerprint };
    const told = selectToldThreshold(db, seen);
    if (told !== undefined && told <= thresholdDays) continue;
    emit(
      deps,
      "certificate.expiring",
      { domain, port, daysRemaining, expiresAt },
      () => upsertToldThreshold(db, { ...seen, thresholdDays, expiresAt }),
    );
  }
  deleteNoticesExpiredBefore(db, new Date(now().getTime() - REMEMBERED_MS).toISOString());
}

/**
 * Who changed what about encryption.
 *
 * @module
 */

import {
  countEncryptionAudit,
  deleteEncryptionAuditBefore,
  type EncryptionEvent,
  insertEncryptionAudit,
  selectEncryptionAudit,
} from "../../db/enterprise/encryption_audit.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";

export { ENCRYPTION_EVENTS } from "../../db/enterprise/encryption_audit.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** One entry as shown. */
export interface EncryptionAuditEntry {
  id: string;
  event_type: EncryptionEvent;
  detail: string;
  actor: string;
  ip: string;
  created_at: string;
}

/** Newest first. */
export function listEncryptionAudit(
  { db }: Pick<Deps, "db">,
  { event_type: eventType, limit, offset }: {
    event_type?: EncryptionEvent | undefined;
    limit: number;
    offset: number;
  },
): { entries: EncryptionAuditEntry[]; total: number; limit: number; offset: number } {
  const entries = selectEncryptionAudit(db, { eventType, limit, offset })
    .map(({ eventType, createdAt, ...rest }) => ({
      ...rest,
      event_type: eventType,
      created_at: createdAt,
    }));
  return { entries, total: countEncryptionAudit(db, { eventType }), limit, offset };
}

/** Writes down what happened; belongs into the transaction in which it happens. */
export function recordEncryptionEvent(
  { db, now }: Pick<Deps, "db" | "now">,
  caller: Caller,
  eventType: EncryptionEvent,
  detail: string,
): void {
  insertEncryptionAudit(db, {
    id: crypto.randomUUID(),
    eventType,
    detail,
    actor: caller.userId,
    ip: caller.address,
    createdAt: now().toISOString(),
  });
}

/**
 * Deletes the entries that are older than so many days, and writes that down itself.
 *
 * @returns How many went.
 */
export function purgeEncryptionAudit(
  deps: Pick<Deps, "db" | "now" | "log">,
  caller: Caller,
  days: number,
): number {
  const { db, now, log } = deps;
  const before = new Date(now().getTime() - days * DAY_MS).toISOString();
  const deleted = db.transaction(() => {
    const deleted = deleteEncryptionAuditBefore(db, before);
    const entries = deleted === 1 ? "1 entry" : `${deleted} entries`;
    recordEncryptionEvent(
      deps,
      caller,
      "audit_purged",
      `${entries} older than ${days} days deleted (before ${before})`,
    );
    return deleted;
  });
  log.info("encryption audit purged", { deleted, days });
  return deleted;
}

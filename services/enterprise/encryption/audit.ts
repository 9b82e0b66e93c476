/** The encryption audit: changes of the settings and key rotations, with user and time. @module */

import {
  countEncryptionAudit,
  deleteEncryptionAuditBefore,
  type EncryptionAuditEntry,
  type EncryptionEvent,
  insertEncryptionAudit,
  selectEncryptionAudit,
} from "../../../db/enterprise/encryption_audit.ts";
import type { Page, Paged } from "../../../db/page.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";

export { ENCRYPTION_EVENTS } from "../../../db/enterprise/encryption_audit.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Lists entries, newest first. */
export function listEncryptionAudit(
  { db }: Pick<Deps, "db">,
  { event_type = null, ...page }: Page & { event_type?: EncryptionEvent | null | undefined },
): { entries: EncryptionAuditEntry[] } & Paged {
  const entries = selectEncryptionAudit(db, event_type, page);
  return { entries, total: countEncryptionAudit(db, event_type), ...page };
}

/** Adds an entry. Call it in the transaction of the change that it records. */
export function recordEncryptionEvent(
  { db, now }: Pick<Deps, "db" | "now">,
  caller: Caller,
  event_type: EncryptionEvent,
  detail: string,
): void {
  insertEncryptionAudit(db, {
    id: crypto.randomUUID(),
    event_type,
    detail,
    actor: caller.userId,
    ip: caller.address,
    created_at: now().toISOString(),
  });
}

/**
 * Deletes entries older than `days` and records the deletion.
 *
 * @returns The number of deleted entries.
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

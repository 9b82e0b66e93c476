/**
 * The `encryption_audit` table: who changed what about encryption.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const ENCRYPTION_EVENTS = [
  "config_updated",
  "rotation_initiated",
  "rotation_ended",
  "audit_purged",
] as const;
export type EncryptionEvent = (typeof ENCRYPTION_EVENTS)[number];

/** One entry as stored. */
export interface EncryptionAuditEntry {
  id: string;
  eventType: EncryptionEvent;
  /** What happened, for people. */
  detail: string;
  /** Id of the user, or `key`. */
  actor: string;
  ip: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

const FILTER = "(:eventType IS NULL OR event_type = :eventType)";

/** Newest first. */
export function selectEncryptionAudit(
  db: Database,
  { eventType = null, limit, offset }: {
    eventType?: EncryptionEvent | null | undefined;
    limit: number;
    offset: number;
  },
): EncryptionAuditEntry[] {
  return db.all<EncryptionAuditEntry>(
    `SELECT id, event_type AS eventType, detail, actor, ip, created_at AS createdAt
     FROM encryption_audit WHERE ${FILTER} ORDER BY created_at DESC, id
     LIMIT :limit OFFSET :offset`,
    { eventType, limit, offset },
  );
}

export function countEncryptionAudit(
  db: Database,
  { eventType = null }: { eventType?: EncryptionEvent | null | undefined },
): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM encryption_audit WHERE ${FILTER}`,
    { eventType },
  )!.n;
}

export function insertEncryptionAudit(db: Database, entry: EncryptionAuditEntry): void {
  db.run(
    `INSERT INTO encryption_audit (id, event_type, detail, actor, ip, created_at)
     VALUES (:id, :eventType, :detail, :actor, :ip, :createdAt)`,
    { ...entry },
  );
}

/** @returns How many went. */
export function deleteEncryptionAuditBefore(db: Database, at: string): number {
  return db.run("DELETE FROM encryption_audit WHERE created_at < :at", { at });
}

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
  event_type: EncryptionEvent;
  /** What happened, for people. */
  detail: string;
  /** Id of the user, or `key`. */
  actor: string;
  ip: string;
  /** ISO 8601, UTC. */
  created_at: string;
}

const COLUMNS = "id, event_type, detail, actor, ip, created_at";

const FILTER = "(:event_type IS NULL OR event_type = :event_type)";

/** Newest first. @param event_type `null` for every kind of event. */
export function selectEncryptionAudit(
  db: Database,
  event_type: EncryptionEvent | null,
  { limit, offset }: { limit: number; offset: number },
): EncryptionAuditEntry[] {
  return db.all<EncryptionAuditEntry>(
    `SELECT ${COLUMNS} FROM encryption_audit WHERE ${FILTER} ORDER BY created_at DESC, id
     LIMIT :limit OFFSET :offset`,
    { event_type, limit, offset },
  );
}

export function countEncryptionAudit(db: Database, event_type: EncryptionEvent | null): number {
  return db.get<{ n: number }>(
    `SELECT count(*) AS n FROM encryption_audit WHERE ${FILTER}`,
    { event_type },
  )!.n;
}

export function insertEncryptionAudit(db: Database, entry: EncryptionAuditEntry): void {
  db.run(
    `INSERT INTO encryption_audit (${COLUMNS})
     VALUES (:id, :event_type, :detail, :actor, :ip, :created_at)`,
    { ...entry },
  );
}

/** @returns How many were deleted. */
export function deleteEncryptionAuditBefore(db: Database, at: string): number {
  return db.run("DELETE FROM encryption_audit WHERE created_at < :at", { at });
}

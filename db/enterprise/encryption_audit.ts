/** The `encryption_audit` table: who changed encryption settings, and when. @module */

import { type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";

export const ENCRYPTION_EVENTS = [
  "config_updated",
  "rotation_initiated",
  "rotation_ended",
  "audit_purged",
] as const;
export type EncryptionEvent = (typeof ENCRYPTION_EVENTS)[number];

const entries = table("encryption_audit", {
  id: text(),
  event_type: text<EncryptionEvent>(),
  /** A description of the event. */
  detail: text(),
  /** Id of the user, or `key`. */
  actor: text(),
  ip: text(),
  /** ISO 8601, UTC. */
  created_at: text(),
}, { order: "created_at DESC, id" });

/** One entry as stored. */
export type EncryptionAuditEntry = Row<typeof entries>;

export const { insert: insertEncryptionAudit } = entries;

const FILTER = "WHERE (:event_type IS NULL OR event_type = :event_type)";

/** Newest first. @param event_type `null` for every kind of event. */
export function selectEncryptionAudit(
  db: Database,
  event_type: EncryptionEvent | null,
  page: Page,
): EncryptionAuditEntry[] {
  return entries.page(db, page, FILTER, { event_type });
}

export function countEncryptionAudit(db: Database, event_type: EncryptionEvent | null): number {
  return entries.countWhere(db, FILTER, { event_type });
}

/** @returns How many were deleted. */
export function deleteEncryptionAuditBefore(db: Database, at: string): number {
  return db.run("DELETE FROM encryption_audit WHERE created_at < :at", { at });
}

/**
 * The `audit_entries` table: who changed what, when and from where.
 *
 * @module
 */

import type { Database } from "../database.ts";

export const AUDIT_OUTCOMES = ["success", "failure", "denied"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

export interface AuditEntry {
  id: string;
  /** ISO 8601, UTC. */
  at: string;
  /** Id of the user, `key` in key mode, empty for someone without a token. */
  actor: string;
  role: string;
  /** Method and path pattern, e.g. `POST /api/containers/:id/stop`. */
  action: string;
  /** The path's parameters, e.g. `web`. */
  target: string;
  outcome: AuditOutcome;
  ip: string;
}

export function insertAuditEntry(db: Database, entry: AuditEntry): void {
  db.run(
    `INSERT INTO audit_entries (id, at, actor, role, action, target, outcome, ip)
     VALUES (:id, :at, :actor, :role, :action, :target, :outcome, :ip)`,
    { ...entry },
  );
}

/** Newest first. */
export function selectAuditEntries(
  db: Database,
  { limit, offset }: { limit: number; offset: number },
): AuditEntry[] {
  return db.all<AuditEntry>(
    `SELECT id, at, actor, role, action, target, outcome, ip FROM audit_entries
     ORDER BY at DESC, id LIMIT :limit OFFSET :offset`,
    { limit, offset },
  );
}

export function countAuditEntries(db: Database): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM audit_entries")!.n;
}

/** How many entries were ever written; looks at the newest one only. */
export function countAuditEntriesEver(db: Database): number {
  return db.get<{ n: number | null }>("SELECT max(rowid) AS n FROM audit_entries")?.n ?? 0;
}

/** @returns How many went. */
export function deleteAuditEntriesBefore(db: Database, at: string): number {
  return db.run("DELETE FROM audit_entries WHERE at < :at", { at });
}

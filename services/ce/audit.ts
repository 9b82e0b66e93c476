/**
 * The audit log: every write of every edition, kept for 90 days.
 *
 * @module
 */

import {
  type AuditEntry,
  type AuditOutcome,
  countAuditEntries,
  deleteAuditEntriesBefore,
  insertAuditEntry,
  selectAuditEntries,
} from "../../db/ce/audit_entries.ts";
export { AUDIT_OUTCOMES } from "../../db/ce/audit_entries.ts";

import type { Caller } from "../caller.ts";
import type { Deps } from "../deps.ts";

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** A path's parameters are short; nothing longer is kept. */
const TARGET_MAX = 300;

/** Writes down that somebody changed something, or tried to. */
export function recordAudit(
  { db, now }: Pick<Deps, "db" | "now">,
  { caller, action, target, outcome }: {
    caller: Caller;
    action: string;
    target: string;
    outcome: AuditOutcome;
  },
): void {
  insertAuditEntry(db, {
    id: crypto.randomUUID(),
    at: now().toISOString(),
    actor: caller.userId,
    role: caller.role,
    action,
    target: target.slice(0, TARGET_MAX),
    outcome,
    ip: caller.address,
  });
}

/** Newest first. */
export function listAudit(
  { db }: Pick<Deps, "db">,
  { limit, offset }: { limit: number; offset: number },
): { entries: AuditEntry[]; total: number; limit: number; offset: number } {
  const entries = selectAuditEntries(db, { limit, offset });
  return { entries, total: countAuditEntries(db), limit, offset };
}

export function sweepAudit({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteAuditEntriesBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
}

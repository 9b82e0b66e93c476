/** The `audit_entries` table: who changed what, when and from where. @module */

import { json, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import type { Page } from "./page.ts";

export const AUDIT_OUTCOMES = ["success", "failure", "denied"] as const;
export type AuditOutcome = (typeof AUDIT_OUTCOMES)[number];

/** Selects entries; a missing field matches all. */
export interface AuditFilter {
  /** Id or email of the actor. */
  actor?: string | undefined;
  /** Part of the action. */
  action?: string | undefined;
  /** One of the targets. */
  target?: string | undefined;
  outcome?: AuditOutcome | undefined;
  /** ISO 8601, UTC; inclusive. */
  from?: string | undefined;
  /** ISO 8601, UTC; inclusive. */
  to?: string | undefined;
}

const CONDITIONS: Record<keyof AuditFilter, string> = {
  actor: `rowid IN (
    SELECT rowid FROM audit_entries WHERE actor = :actor
    UNION SELECT rowid FROM audit_entries WHERE actor_email = :actor COLLATE NOCASE)`,
  // Steps from one distinct action to the next in the index, instead of reading every entry.
  action: `action IN (
    WITH RECURSIVE actions (action) AS (
      SELECT min(action) FROM audit_entries
      UNION ALL
      SELECT (SELECT min(action) FROM audit_entries WHERE action > actions.action) FROM actions
      WHERE actions.action IS NOT NULL
    )
    SELECT action FROM actions WHERE instr(lower(action), lower(:action)) > 0)`,
  target: "id IN (SELECT entry_id FROM audit_targets WHERE target = :target)",
  outcome: "outcome = :outcome",
  from: "at >= :from",
  to: "at <= :to",
};

const entries = table("audit_entries", {
  id: text(),
  /** ISO 8601, UTC. */
  at: text(),
  /** Id of the user; `key`, `console`, `schedule` or `remediation`; empty without a token. */
  actor: text(),
  /** The user's email at that time; `null` for actors that are not users. */
  actorEmail: text<string | null>(),
  /** The API token that the actor used, with its name at that time; `null` for a login. */
  token: json<{ id: string; name: string } | null>(),
  /** The hub that passed the request on, and the name of its user; `null` for direct requests. */
  hub: json<{ id: string; name: string; user: string } | null>(),
  role: text(),
  /** Method and path pattern, e.g. `POST /api/containers/:id/stop`. */
  action: text(),
  /** The path's parameters, e.g. `web`. */
  target: text(),
  /** Ids and names of all objects of the action. */
  targets: json<string[]>(),
  /** The command of an exec, the action of a bulk request, the options of a prune. */
  command: text<string | null>(),
  outcome: text<AuditOutcome>(),
  ip: text(),
}, { order: "at DESC, id" });

export type AuditEntry = Row<typeof entries>;

export const { insert: insertAuditEntry } = entries;

/** Newest first. */
export function selectAuditEntries(db: Database, filter: AuditFilter, page: Page): AuditEntry[] {
  const { where, params } = toCondition(filter);
  return entries.page(db, page, where, params);
}

export function countAuditEntries(db: Database, filter: AuditFilter): number {
  const { where, params } = toCondition(filter);
  return entries.countWhere(db, where, params);
}

/** Number of entries ever written; reads only the newest one. */
export function countAuditEntriesEver(db: Database): number {
  return db.get<{ n: number | null }>("SELECT max(rowid) AS n FROM audit_entries")?.n ?? 0;
}

/** @returns How many were deleted. */
export function deleteAuditEntriesBefore(db: Database, at: string): number {
  return db.run("DELETE FROM audit_entries WHERE at < :at", { at });
}

function toCondition(filter: AuditFilter): { where: string; params: Record<string, string> } {
  const params = Object.fromEntries(
    Object.entries(filter).filter((entry): entry is [keyof AuditFilter, string] =>
      entry[1] !== undefined
    ),
  );
  const conditions = (Object.keys(params) as (keyof AuditFilter)[]).map((name) => CONDITIONS[name]);
  return { where: conditions.length > 0 ? `WHERE ${conditions.join(" AND ")}` : "", params };
}

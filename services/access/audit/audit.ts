/** The audit log: every write request and every automatic action, kept for 90 days. @module */

import {
  type AuditEntry,
  type AuditFilter,
  type AuditOutcome,
  countAuditEntries,
  deleteAuditEntriesBefore,
  insertAuditEntry,
  selectAuditEntries,
} from "../../../db/audit_entries.ts";
export { AUDIT_OUTCOMES } from "../../../db/audit_entries.ts";

import { selectUser } from "../../../db/users.ts";
import type { Page, Paged } from "../../../db/page.ts";
import type { AutomaticId } from "../automatic.ts";
import type { Caller } from "../caller.ts";
import type { Deps } from "../../deps.ts";

const KEPT_MS = 90 * 24 * 60 * 60 * 1000;

/** Limits of an entry: length of a target and of the command in UTF-16 code units, targets. */
const TARGET_MAX = 300;
const COMMAND_MAX = 500;
const TARGETS_MAX = 100;

/** The user or service that acted. */
export type AuditActor = Pick<Caller, "userId" | "address" | "apiToken" | "hub"> & { role: string };

/** The service itself, acting on behalf of a schedule, a remediation rule or an update policy. */
export const automaticActor = (userId: AutomaticId): AuditActor => ({
  userId,
  role: "system",
  address: "",
});

/** Records a change or a failed attempt. */
export function recordAudit(
  { db, now }: Pick<Deps, "db" | "now">,
  { caller, action, target, targets = [target], command = null, outcome }: {
    caller: AuditActor;
    action: string;
    target: string;
    /** Ids and names of everything affected; default: the target. */
    targets?: readonly string[];
    command?: string | null;
    outcome: AuditOutcome;
  },
): void {
  const names = new Set(targets.map((name) => cut(name, TARGET_MAX)).filter(Boolean));
  const { apiToken, hub } = caller;
  insertAuditEntry(db, {
    id: crypto.randomUUID(),
    at: now().toISOString(),
    actor: caller.userId,
    actorEmail: selectUser(db, caller.userId)?.email ?? null,
    token: apiToken ? { id: apiToken.id, name: apiToken.name } : null,
    hub: hub ? { id: hub.id, name: hub.name, user: hub.user } : null,
    role: caller.role,
    action,
    target: cut(target, TARGET_MAX),
    targets: [...names].slice(0, TARGETS_MAX),
    command: command === null ? null : cut(command, COMMAND_MAX),
    outcome,
    ip: caller.address,
  });
}

/** The entries that match the filter, newest first. */
export function listAudit(
  { db }: Pick<Deps, "db">,
  { limit, offset, ...filter }: AuditFilter & Page,
): { entries: AuditEntry[] } & Paged {
  const entries = selectAuditEntries(db, filter, { limit, offset });
  return { entries, total: countAuditEntries(db, filter), limit, offset };
}

export function sweepAudit({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteAuditEntriesBefore(db, new Date(now().getTime() - KEPT_MS).toISOString());
}

const cut = (text: string, max: number) => text.slice(0, max).toWellFormed();

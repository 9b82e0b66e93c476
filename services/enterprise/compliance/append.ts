/**
 * Appends entries to the compliance log.
 *
 * All entries form one hash chain. The previous entry is read in the transaction that inserts the
 * next one, and write transactions are exclusive, so that neither a rollback nor another process can
 * fork the chain.
 *
 * @module
 */

import canonicalize from "canonicalize";
import type { StateDatabase } from "../../../db/database.ts";
import { selectAnchor } from "../../../db/enterprise/chain_anchors.ts";
import {
  type ActorType,
  type ComplianceRow,
  insertEntry,
  selectEntryBefore,
  selectHead,
  updateHeadSequence,
  withSavepoint,
} from "../../../db/enterprise/compliance_logs.ts";
import { KEY_USER, METRICS_USER } from "../../access/accounts.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { type ComplianceEntry, hashEntry, toEntry } from "./hash_chain.ts";

/** An entry before it is added to the chain. */
export type NewEntry = Omit<
  ComplianceEntry,
  "id" | "event_id" | "previous_hash" | "entry_hash" | "created_at"
>;

/** Built-in callers that authenticate with a key instead of an account. */
const KEY_CALLERS: readonly string[] = [KEY_USER, METRICS_USER];

/** The actor of requests without a known caller. */
export const ANONYMOUS = "anonymous";

/** The actor of the service's own actions. */
export const SYSTEM = { actor_id: "system", actor_type: "system" } as const;

/** Common fields of most entries of the service. */
export const OWN_ENTRY = {
  category: "security",
  severity: "info",
  resource_id: null,
  detail: null,
  outcome: "success",
  metadata: null,
  recorded_by: null,
} as const;

/** Returns the actor fields for a user. */
export function actorOf(
  { userId }: { userId: string },
): { actor_id: string; actor_type: ActorType } {
  return {
    actor_id: userId || ANONYMOUS,
    actor_type: KEY_CALLERS.includes(userId) ? "api_key" : "user",
  };
}

/**
 * Appends an entry.
 *
 * @returns The entry, once it is on the disk.
 * @throws The error of SQLite (e.g. a full disk). No entry of the same transaction is stored then.
 */
export async function appendEntry(
  deps: Pick<Deps, "compliance" | "db" | "now">,
  entry: NewEntry,
): Promise<ComplianceEntry> {
  const prepared = prepareEntry(deps, entry);
  return await deps.compliance.commit(() => insertPrepared(deps.db, prepared));
}

/**
 * Appends an entry about an action that has already happened. A failure is logged and does not undo
 * the action.
 */
export async function recordEntry(
  deps: Pick<Deps, "compliance" | "db" | "now" | "log">,
  entry: NewEntry,
): Promise<void> {
  try {
    await appendEntry(deps, entry);
  } catch (error) {
    logLostEntry(deps, entry, error);
  }
}

export function logLostEntry({ log }: Pick<Deps, "log">, entry: NewEntry, error: unknown): void {
  const { action, actor_id, outcome } = entry;
  log.error("compliance entry lost", { action, actor_id, outcome, ...errorFields(error) });
}

/**
 * Appends an entry within the open transaction. A failure rolls back the entry only.
 *
 * @throws The error of SQLite.
 */
export function chainEntry(deps: Pick<Deps, "db" | "now">, entry: NewEntry): ComplianceEntry {
  const prepared = prepareEntry(deps, entry);
  return withSavepoint(deps.db, () => insertPrepared(deps.db, prepared));
}

/** An entry with all fields that do not depend on its place in the chain. */
type PreparedEntry = Omit<ComplianceRow, "sequence" | "previous_hash" | "entry_hash">;

/** @throws {Error} For metadata without a canonical form. */
function prepareEntry({ now }: Pick<Deps, "now">, entry: NewEntry): PreparedEntry {
  const { metadata, ...fields } = entry;
  return {
    ...Object.fromEntries(Object.entries(fields).map(([name, text]) => [name, cleanText(text)])),
    metadata: metadata && canonicalize(metadata),
    id: crypto.randomUUID(),
    event_id: crypto.randomUUID(),
    created_at: now().toISOString(),
  } as PreparedEntry;
}

/** SQLite truncates text at a NUL, and UTF-8 cannot encode a lone surrogate. */
function cleanText(text: string | null): string | null {
  return text && text.toWellFormed().replaceAll("\0", "\uFFFD");
}

function insertPrepared(db: StateDatabase, prepared: PreparedEntry): ComplianceEntry {
  const head = selectHead(db);
  if (!head) {
    throw new Error("The compliance log has no head: its row was removed from the database");
  }
  const sequence = (head.sequence < Number.MAX_SAFE_INTEGER ? head.sequence : repairHead(db)) + 1;
  const fields = { ...prepared, previous_hash: head.hash };
  const row = { ...fields, sequence, entry_hash: hashEntry(fields) };
  insertEntry(db, row);
  return toEntry(row);
}

/**
 * Gives a head whose sequence was modified outside this program the sequence of the last entry. It
 * keeps the hash, so that the verification still detects removed entries.
 *
 * @returns The sequence.
 */
function repairHead(db: StateDatabase): number {
  const last = selectEntryBefore(db, Number.MAX_SAFE_INTEGER) ?? selectAnchor(db);
  const sequence = last?.sequence ?? 0;
  updateHeadSequence(db, sequence);
  return sequence;
}

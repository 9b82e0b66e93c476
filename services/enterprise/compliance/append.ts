/**
 * Adding to the compliance log: one chain, whoever writes at the same time.
 *
 * The predecessor of an entry is read in the transaction that writes it, and every transaction has
 * the database to itself from its beginning. So neither a rollback nor another process can fork the
 * chain.
 *
 * @module
 */

import canonicalize from "canonicalize";
import type { StateDatabase } from "../../../db/database.ts";
import {
  type ActorType,
  type ComplianceRow,
  insertEntry,
  selectHead,
  withSavepoint,
} from "../../../db/enterprise/compliance_logs.ts";
import { KEY_USER, METRICS_USER } from "../../auth/accounts.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { type ComplianceEntry, hashOf, shownEntry } from "./hash_chain.ts";

/** An entry before it has its place in the chain. */
export type NewEntry = Omit<
  ComplianceEntry,
  "id" | "event_id" | "previous_hash" | "entry_hash" | "created_at"
>;

type AppendDeps = Pick<Deps, "db" | "now">;

/** Most entries of one transaction, which holds up everything else. */
const BATCH_MAX = 500;

/** Another process may hold the database for a moment: so often is tried, and so far apart. */
const TRIES_MAX = 10;
const RETRY_MS = 50;

interface Waiting {
  prepared: Prepared;
  written: (entry: ComplianceEntry) => void;
  failed: (error: unknown) => void;
}

/** Who does something with the API key, and who with the scraper's token. */
const KEYS: readonly string[] = [KEY_USER, METRICS_USER];

/** Who is nobody that is known. */
export const STRANGER = "anonymous";

/** Somebody as the log names them. */
export function actorOf(
  { userId }: { userId: string },
): { actor_id: string; actor_type: ActorType } {
  return { actor_id: userId || STRANGER, actor_type: KEYS.includes(userId) ? "api_key" : "user" };
}

/** What the service does by itself. */
export const SYSTEM = { actor_id: "system", actor_type: "system" } as const;

/** What waits for the next transaction, in order. */
const queues = new WeakMap<StateDatabase, Waiting[]>();

/**
 * Adds an entry. All that are added in one turn of the event loop go into one transaction, for each
 * has to wait for the disk.
 *
 * @returns When it is on the disk.
 * @throws What SQLite throws (a full disk); no entry of that transaction is written then.
 */
export async function appendEntry(deps: AppendDeps, entry: NewEntry): Promise<ComplianceEntry> {
  const { db } = deps;
  const prepared = prepare(deps, entry);
  return await new Promise((written, failed) => {
    let queue = queues.get(db);
    if (!queue) {
      queues.set(db, queue = []);
      setTimeout(() => flush(db, TRIES_MAX), 0);
    }
    queue.push({ prepared, written, failed });
  });
}

/**
 * Adds an entry about what is done already: that it cannot be written is told in the log, and undoes
 * nothing.
 */
export async function recordEntry(
  deps: AppendDeps & Pick<Deps, "log">,
  entry: NewEntry,
): Promise<void> {
  try {
    await appendEntry(deps, entry);
  } catch (error) {
    tellLost(deps, entry, error);
  }
}

/** One line for the entry that nobody will find in the log. */
export function tellLost({ log }: Pick<Deps, "log">, entry: NewEntry, error: unknown): void {
  const { action, actor_id, outcome } = entry;
  log.error("compliance entry lost", { action, actor_id, outcome, ...errorFields(error) });
}

/**
 * Adds an entry inside the transaction that is open: it is there when that commits. What goes wrong
 * here undoes the entry, and nothing else of that transaction.
 */
export function chainEntry(deps: AppendDeps, entry: NewEntry): ComplianceEntry {
  const prepared = prepare(deps, entry);
  return withSavepoint(deps.db, () => chain(deps.db, prepared));
}

function flush(db: StateDatabase, tries: number): void {
  const queue = queues.get(db) ?? [];
  const batch = queue.splice(0, BATCH_MAX);
  let entries: ComplianceEntry[];
  try {
    entries = db.transaction(() => batch.map(({ prepared }) => chain(db, prepared)));
  } catch (error) {
    if (isBusy(error) && tries > 1) {
      queue.unshift(...batch);
      setTimeout(() => flush(db, tries - 1), RETRY_MS);
      return;
    }
    next(db, queue);
    for (const { failed } of batch) failed(error);
    return;
  }
  next(db, queue);
  batch.forEach(({ written }, at) => written(entries[at]!));
}

function next(db: StateDatabase, queue: readonly Waiting[]): void {
  if (queue.length > 0) setTimeout(() => flush(db, TRIES_MAX), 0);
  else queues.delete(db);
}

/** SQLITE_BUSY: the low byte of the extended result code. */
function isBusy(error: unknown): boolean {
  return (((error as { errcode?: number }).errcode ?? 0) & 0xff) === 5;
}

/** An entry with all that does not depend on its place. */
type Prepared = Omit<ComplianceRow, "sequence" | "previous_hash" | "entry_hash">;

/** What cannot be written is told here, to the one whose entry it is. */
function prepare({ now }: AppendDeps, entry: NewEntry): Prepared {
  const { metadata, ...fields } = entry;
  return {
    ...Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, storable(value)])),
    metadata: metadata && canonicalize(metadata),
    id: crypto.randomUUID(),
    event_id: crypto.randomUUID(),
    created_at: now().toISOString(),
  } as Prepared;
}

/** SQLite ends a text at its first NUL, and UTF-8 has no half of a surrogate pair. */
function storable(text: string | null): string | null {
  return text && text.toWellFormed().replaceAll("\0", "\uFFFD");
}

function chain(db: StateDatabase, prepared: Prepared): ComplianceEntry {
  const head = selectHead(db);
  if (!head) {
    throw new Error("The compliance log has no head: somebody took it out of the database");
  }
  const sequence = head.sequence + 1;
  const fields = { ...prepared, previous_hash: head.hash };
  const row = { ...fields, sequence, entry_hash: hashOf(fields) };
  insertEntry(db, row);
  return shownEntry(row);
}

/**
 * The end of the compliance log's old entries. They go from the beginning of the chain, and an
 * anchor takes down the hash that the rest of it goes on from.
 *
 * First the entries are verified: what somebody tampered with shall not vanish with its evidence.
 * Then an entry of the log announces what is deleted, so that nobody can delete a beginning and put
 * an anchor in its place. Then it is deleted in slices, each with its anchor in one transaction: the
 * end of the process at any moment leaves a log that verifies, and the next run goes on.
 *
 * @module
 */

import { selectAnchor, upsertAnchor } from "../../../db/enterprise/chain_anchors.ts";
import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import {
  type ChainLink,
  countEntriesThrough,
  deleteEntriesThrough,
  selectChain,
  selectEntryAfter,
  selectEntryBefore,
  selectHead,
} from "../../../db/enterprise/compliance_logs.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { actorOf, appendEntry, SYSTEM } from "./append.ts";
import { beginningFault, entryFault, type Fault, type Place, RETENTION_ACTION } from "./chain.ts";
import { GENESIS_HASH } from "./hash_chain.ts";
import { createPause, turn } from "./turn.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries that are verified at once. */
const STEP = 256;

/** Entries of a slice: it grows and shrinks between these to take about so many milliseconds. */
const SLICE_MIN = 16;
const SLICE_MAX = 2_000;
const SLICE_MS = 12;

export interface RetentionResult {
  deleted: number;
  retention_days: number;
  /** Whether entries went, and the log now goes on from an anchor. */
  chain_anchor_recorded: boolean;
}

type RetentionDeps = Pick<Deps, "db" | "log" | "now">;

/** By database: the run that is under way. */
const running = new WeakMap<StateDatabase, Promise<RetentionResult>>();

/**
 * Deletes entries that are older than the configured days, up to the first that is not: a clock
 * that was set back tears no hole into the log. Joins a run that is under way.
 *
 * @param caller Who asked for it; the service itself unless given.
 * @param signal Ends it between two slices.
 */
export async function sweepCompliance(
  deps: RetentionDeps,
  { caller, signal }: { caller?: Caller; signal?: AbortSignal } = {},
): Promise<RetentionResult> {
  const { db } = deps;
  const current = running.get(db);
  if (current) return await current;
  const run = sweep(deps, caller, signal).finally(() => running.delete(db));
  running.set(db, run);
  return await run;
}

async function sweep(
  deps: RetentionDeps,
  caller: Caller | undefined,
  signal: AbortSignal | undefined,
): Promise<RetentionResult> {
  const { db, now } = deps;
  const { retention_days } = selectComplianceConfig(db);
  const olderThan = new Date(now().getTime() - retention_days * DAY_MS).toISOString();
  const { last, entries, fault } = await oldEntries(db, olderThan, signal);
  if (!last) return { deleted: 0, retention_days, chain_anchor_recorded: false };

  const by = caller ? actorOf(caller) : SYSTEM;
  const common = {
    category: "security",
    resource_type: "compliance",
    recorded_by: null,
  } as const;
  if (fault) {
    await appendEntry(deps, {
      ...common,
      ...SYSTEM,
      severity: "critical",
      action: "compliance.chain_broken",
      resource_id: fault.id,
      detail: fault.reason,
      outcome: "failure",
      metadata: null,
    });
    deps.log.error("compliance log tampered with", { entry: fault.id, reason: fault.reason });
  }
  // Written also while the log is off: without it the anchor would stand for nothing.
  const announcement = await appendEntry(deps, {
    ...common,
    ...by,
    severity: "info",
    action: RETENTION_ACTION,
    resource_id: null,
    detail: `Entries from before ${olderThan} are deleted`,
    outcome: "success",
    metadata: {
      retention_days,
      older_than: olderThan,
      entries,
      entries_before: last.sequence,
      anchor_hash: last.hash,
    },
  });
  const deleted = await deleteThrough(deps, announcement.id, last.sequence, signal);
  return { deleted, retention_days, chain_anchor_recorded: deleted > 0 };
}

interface OldEntries {
  /** The last of them; `undefined` where none is old. */
  last: ChainLink | undefined;
  /** How many there are up to that one, also where no entry should be. */
  entries: number;
  /** The first thing that is wrong with them. */
  fault: Fault | undefined;
}

/** Looks at the old entries at the beginning, as the verification does. */
async function oldEntries(
  db: StateDatabase,
  olderThan: string,
  signal: AbortSignal | undefined,
): Promise<OldEntries> {
  const pause = createPause(signal);
  const anchor = selectAnchor(db) ?? { sequence: 0, hash: GENESIS_HASH };
  const through = selectHead(db)?.sequence ?? 0;
  // What somebody put before the beginning goes with the rest.
  let entries = countEntriesThrough(db, anchor.sequence);
  let fault = beginningFault(db);
  let last: ChainLink | undefined;
  let place: Place = { sequence: anchor.sequence, hash: anchor.hash, id: null };
  for (;;) {
    const rows = selectChain(db, { after: place.sequence, through, limit: STEP });
    for (const row of rows) {
      if (row.created_at >= olderThan) return { last, entries, fault };
      if (!fault) {
        const reason = entryFault(row, place);
        if (reason !== undefined) fault = { id: row.id, reason };
      }
      last = { sequence: row.sequence, hash: row.entry_hash };
      place = { ...last, id: row.id };
      entries++;
    }
    if (rows.length === 0) return { last, entries, fault };
    await pause();
  }
}

async function deleteThrough(
  { db, now }: RetentionDeps,
  announcementId: string,
  sequence: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const created_at = now().toISOString();
  let deleted = 0;
  let slice = SLICE_MIN;
  for (let done = selectAnchor(db)?.sequence ?? 0; done < sequence;) {
    signal?.throwIfAborted();
    const began = performance.now();
    const last = sliceEnd(db, done, Math.min(done + slice, sequence));
    if (!last || last.sequence > sequence) break;
    db.transaction(() => {
      upsertAnchor(db, { ...last, entry_id: announcementId, created_at });
      deleted += deleteEntriesThrough(db, last.sequence);
    });
    done = last.sequence;
    const took = performance.now() - began;
    if (took > SLICE_MS) slice = Math.max(SLICE_MIN, Math.floor(slice / 2));
    else if (took < SLICE_MS / 2) slice = Math.min(SLICE_MAX, slice * 2);
    await turn();
  }
  return deleted;
}

/** Where a slice ends that should end at a place where perhaps nothing is any more. */
function sliceEnd(db: StateDatabase, done: number, wanted: number): ChainLink | undefined {
  const before = selectEntryBefore(db, wanted + 1);
  const end = before && before.sequence > done ? before : selectEntryAfter(db, done);
  return end && { sequence: end.sequence, hash: end.entry_hash };
}

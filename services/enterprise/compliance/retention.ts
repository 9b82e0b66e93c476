/**
 * Retention of the compliance log: deletes old entries from the start of the chain. An anchor stores
 * the hash from which the chain continues.
 *
 * First the entries are verified, so that evidence of tampering is not deleted silently. Then an
 * entry announces the deletion, so that an attacker cannot replace entries by an anchor. Then the
 * entries are deleted in slices, each in one transaction with its anchor: if the process ends at any
 * point, the log is still valid, and the next run continues.
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
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { createYield, yieldToEventLoop } from "../../waiting.ts";
import type { RetentionResult } from "../../access/audit/compliance_state.ts";
import { actorOf, appendEntry, OWN_ENTRY, SYSTEM } from "./append.ts";
import {
  type Fault,
  findEntryFault,
  findStartFault,
  type Place,
  RETENTION_ACTION,
} from "./chain.ts";
import { GENESIS_HASH } from "./hash_chain.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries per query of the verification. */
const STEP = 256;

/** Limits of the entries per slice, which adapts so that a slice takes about `SLICE_MS`. */
const SLICE_MIN = 16;
const SLICE_MAX = 2_000;
const SLICE_MS = 12;

type RetentionDeps = Pick<Deps, "compliance" | "db" | "log" | "now">;

/**
 * Deletes entries past the retention, up to the first entry that is newer: entries written after the
 * clock was set back do not leave a gap. Joins a run in progress.
 *
 * @param caller Who requested it. Default: the service itself.
 * @param signal Stops the run between two slices.
 */
export async function sweepCompliance(
  deps: RetentionDeps,
  { caller, signal }: { caller?: Caller; signal?: AbortSignal } = {},
): Promise<RetentionResult> {
  const { compliance } = deps;
  compliance.retention ??= sweep(deps, caller, signal)
    .finally(() => compliance.retention = undefined);
  return await compliance.retention;
}

async function sweep(
  deps: RetentionDeps,
  caller: Caller | undefined,
  signal: AbortSignal | undefined,
): Promise<RetentionResult> {
  const { db, now } = deps;
  const { retention_days } = selectComplianceConfig(db);
  const olderThan = new Date(now().getTime() - retention_days * DAY_MS).toISOString();
  const { last, entries, fault } = await verifyOldEntries(db, olderThan, signal);
  if (!last) return { deleted: 0, retention_days, chain_anchor_recorded: false };

  if (fault) {
    await appendEntry(deps, {
      ...OWN_ENTRY,
      ...SYSTEM,
      severity: "critical",
      action: "compliance.chain_broken",
      resource_type: "compliance",
      resource_id: fault.id,
      detail: fault.reason,
      outcome: "failure",
    });
    deps.log.error("compliance log tampered with", { entry: fault.id, reason: fault.reason });
  }
  // Recorded even while the log is disabled, because an anchor is not valid without it.
  const announcement = await appendEntry(deps, {
    ...OWN_ENTRY,
    ...(caller ? actorOf(caller) : SYSTEM),
    action: RETENTION_ACTION,
    resource_type: "compliance",
    detail: `Entries before ${olderThan} are deleted`,
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
  /** The last old entry; `undefined` if there is none. */
  last: ChainLink | undefined;
  /** Number of entries up to `last`, including inserted ones before the anchor. */
  entries: number;
  /** The first fault of these entries. */
  fault: Fault | undefined;
}

/** Verifies the old entries at the start of the chain. */
async function verifyOldEntries(
  db: StateDatabase,
  olderThan: string,
  signal: AbortSignal | undefined,
): Promise<OldEntries> {
  const pause = createYield(signal);
  const anchor = selectAnchor(db) ?? { sequence: 0, hash: GENESIS_HASH };
  const through = selectHead(db)?.sequence ?? 0;
  // Entries that an attacker inserted before the start are deleted, too.
  let entries = countEntriesThrough(db, anchor.sequence);
  let fault = findStartFault(db);
  let last: ChainLink | undefined;
  let place: Place = { sequence: anchor.sequence, hash: anchor.hash, id: null };
  for (;;) {
    const rows = selectChain(db, { after: place.sequence, through, limit: STEP });
    for (const row of rows) {
      if (row.created_at >= olderThan) return { last, entries, fault };
      if (!fault) {
        const reason = findEntryFault(row, place);
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
  { db, now }: Pick<Deps, "db" | "now">,
  announcementId: string,
  sequence: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const created_at = now().toISOString();
  let deleted = 0;
  let slice = SLICE_MIN;
  for (let done = selectAnchor(db)?.sequence ?? 0; done < sequence;) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    const last = findSliceEnd(db, done, Math.min(done + slice, sequence));
    if (!last || last.sequence > sequence) break;
    db.transaction(() => {
      upsertAnchor(db, { ...last, entry_id: announcementId, created_at });
      deleted += deleteEntriesThrough(db, last.sequence);
    });
    done = last.sequence;
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > SLICE_MS) slice = Math.max(SLICE_MIN, Math.floor(slice / 2));
    else if (elapsedMs < SLICE_MS / 2) slice = Math.min(SLICE_MAX, slice * 2);
    await yieldToEventLoop();
  }
  return deleted;
}

/** Finds the last entry of a slice. There may be no entry at the wanted position. */
function findSliceEnd(db: StateDatabase, done: number, wanted: number): ChainLink | undefined {
  const before = selectEntryBefore(db, wanted + 1);
  const end = before && before.sequence > done ? before : selectEntryAfter(db, done);
  return end && { sequence: end.sequence, hash: end.entry_hash };
}

/**
 * Verification of the compliance log.
 *
 * It detects entries that were changed, inserted, moved or removed anywhere, including a truncated
 * end, and a truncated beginning unless it has an anchor that an entry of the log announced. It
 * cannot detect a completely new chain with its head; for this, compare the hash of the head with
 * one stored elsewhere.
 *
 * @module
 */

import { type ChainAnchor, selectAnchor } from "../../../db/enterprise/chain_anchors.ts";
import {
  type ChainLink,
  type ComplianceRow,
  selectChain,
  selectCountsSum,
  selectEntry,
  selectEntryAfter,
  selectEntryBefore,
  selectHead,
  selectSequenceFrom,
} from "../../../db/enterprise/compliance_logs.ts";
import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { createYield } from "../../waiting.ts";
import { actorOf, OWN_ENTRY, recordEntry } from "./append.ts";
import { findHashFault, GENESIS_HASH, toEntry } from "./hash_chain.ts";

/** The action of the entry that announces a deletion by the retention. */
export const RETENTION_ACTION = "compliance.retention";

/** Entries per query. */
const STEP = 64;

interface VerificationRange {
  /** ISO 8601, UTC: starts at the first entry at or after this time. Default: the first entry. */
  from?: string | undefined;
  /** Maximum number of entries to check. Default: all. */
  limit?: number | undefined;
}

export interface Verification {
  verified: boolean;
  entries_checked: number;
  /** `null` if the log is valid and if the fault does not belong to an entry. */
  broken_at_id: string | null;
  reason: string | null;
  /** The hash of the last entry of the whole log at that time. */
  head_hash: string | null;
}

/**
 * Verifies the log without blocking the event loop, and records the verification.
 *
 * @throws {ThrottledError} If too many verifications are waiting.
 */
export async function verifyChain(
  deps: Pick<Deps, "compliance" | "db" | "log" | "now">,
  caller: Caller,
  range: VerificationRange,
): Promise<Verification> {
  const report = await deps.compliance.verify(() => walkChain(deps.db, range, createYield()));
  const { verified, entries_checked, broken_at_id, reason, head_hash } = report;
  if (selectComplianceConfig(deps.db).enabled) {
    await recordEntry(deps, {
      ...OWN_ENTRY,
      ...actorOf(caller),
      severity: verified ? "info" : "critical",
      action: "compliance.verify",
      resource_type: "compliance",
      resource_id: broken_at_id,
      detail: reason ?? `${entries_checked} entries checked, all valid`,
      outcome: verified ? "success" : "failure",
      metadata: {
        address: caller.address,
        entries_checked,
        head_hash,
        from: range.from ?? null,
        limit: range.limit ?? null,
      },
    });
  }
  return report;
}

/**
 * Checks entries in order, each against the hash of the previous one. Entries added or deleted by
 * the retention in the meantime are skipped.
 *
 * @param pause Called after every few entries.
 */
export async function walkChain(
  db: StateDatabase,
  { from, limit = Infinity }: VerificationRange,
  pause: () => Promise<void>,
): Promise<Verification> {
  const head = selectHead(db);
  let checked = 0;
  const brokenAt = (id: string | null, reason: string): Verification => ({
    verified: false,
    entries_checked: checked,
    broken_at_id: id,
    reason,
    head_hash: head?.hash ?? null,
  });
  if (!head) return brokenAt(selectLast(db)?.id ?? null, "The head of the log is missing");
  const startFault = findStartFault(db);
  if (startFault) return brokenAt(startFault.id, startFault.reason);

  let last = startOf(db, from);
  while (checked < limit) {
    // Read in the same turn as the entries, so that the retention cannot run in between.
    const anchor = selectAnchor(db);
    if (anchor && anchor.sequence > last.sequence) last = { ...anchor, id: null };
    const step = Math.min(STEP, limit - checked);
    const rows = tryRead(() =>
      selectChain(db, { after: last.sequence, through: head.sequence, limit: step })
    );
    if (typeof rows === "string") return brokenAt(last.id, rows);
    if (rows.length === 0) {
      const fault = findEndFault(db, last, head) ??
        (from === undefined && limit === Infinity ? findCountsFault(db) : undefined);
      if (fault) return brokenAt(fault.id, fault.reason);
      break;
    }
    for (const row of rows) {
      const fault = findEntryFault(row, last);
      if (fault !== undefined) return brokenAt(row.id, fault);
      last = { sequence: row.sequence, hash: row.entry_hash, id: row.id };
      checked++;
    }
    await pause();
  }
  return {
    verified: true,
    entries_checked: checked,
    broken_at_id: null,
    reason: null,
    head_hash: head.hash,
  };
}

/** A position in the chain; `id` is `null` if there is no entry at it. */
export type Place = ChainLink & { id: string | null };

export interface Fault {
  /** The faulty entry; `null` if the fault does not belong to an entry. */
  id: string | null;
  reason: string;
}

/** Returns the position before the first entry to check. */
function startOf(db: StateDatabase, from: string | undefined): Place {
  const anchor = selectAnchor(db);
  const beginning = { sequence: anchor?.sequence ?? 0, hash: anchor?.hash ?? GENESIS_HASH };
  if (from === undefined) return { ...beginning, id: null };
  const first = selectSequenceFrom(db, from) ?? Number.MAX_SAFE_INTEGER;
  const before = selectEntryBefore(db, first);
  if (!before) return { ...beginning, id: null };
  return { sequence: before.sequence, hash: before.entry_hash, id: before.id };
}

/**
 * Checks the start of the log. An anchor replaces deleted entries; it is valid if an existing entry
 * of the service announced the deletion.
 */
export function findStartFault(db: StateDatabase): Fault | undefined {
  const anchor = selectAnchor(db);
  const below = tryRead(() => selectEntryBefore(db, (anchor?.sequence ?? 0) + 1));
  if (typeof below === "string") return { id: null, reason: below };
  if (below) {
    const start = anchor ? `the anchor ${anchor.hash}` : "the first entry";
    return { id: below.id, reason: `There are entries before ${start}` };
  }
  if (!anchor) return undefined;
  const id = selectEntryAfter(db, anchor.sequence)?.id ?? null;
  const announced = findAnnouncedEnd(db, anchor);
  if (!announced) {
    return { id, reason: `No entry of the log announces the anchor ${anchor.hash}` };
  }
  if (announced.sequence === anchor.sequence && announced.hash !== anchor.hash) {
    return {
      id,
      reason: `The anchor differs from the announced one: expected hash ${announced.hash}, ` +
        `actual ${anchor.hash}`,
    };
  }
  return undefined;
}

/** Returns the last position that the retention of an anchor announced to delete. */
function findAnnouncedEnd(db: StateDatabase, anchor: ChainAnchor): ChainLink | undefined {
  const row = selectEntry(db, anchor.entry_id);
  if (row?.action !== RETENTION_ACTION || row.recorded_by !== null) return undefined;
  if (findHashFault(row, row.previous_hash) !== undefined) return undefined;
  const { entries_before, anchor_hash } = toEntry(row).metadata ?? {};
  if (typeof entries_before !== "number" || typeof anchor_hash !== "string") return undefined;
  if (entries_before < anchor.sequence || entries_before >= row.sequence) return undefined;
  return { sequence: entries_before, hash: anchor_hash };
}

/** Checks an entry and its position; returns a sentence that describes the fault. */
export function findEntryFault(row: ComplianceRow, last: Place): string | undefined {
  const missing = row.sequence - last.sequence - 1;
  if (last.id === null && missing > 0 && row.previous_hash !== last.hash) {
    return `The beginning of the log is missing, ${missing} ` +
      `${missing === 1 ? "entry" : "entries"} before ${row.id}: expected previous_hash ` +
      `${last.hash}, actual ${row.previous_hash}`;
  }
  return findHashFault(row, last.hash) ?? findPositionFault(row, last);
}

/** Checks that positions have no gaps. They are not hashed, but the service never changes one. */
function findPositionFault(row: ComplianceRow, last: Place): string | undefined {
  if (row.sequence === last.sequence + 1) return undefined;
  return `Entry ${row.id} is misplaced: expected right after the entry with hash ${last.hash}, ` +
    `actual ${row.sequence - last.sequence} positions later`;
}

/** Checks that the last entry is the head. */
function findEndFault(db: StateDatabase, last: Place, head: ChainLink): Fault | undefined {
  if (last.sequence < head.sequence) {
    const missing = head.sequence - last.sequence;
    return {
      id: last.id ?? selectLast(db)?.id ?? null,
      reason:
        `The end of the log is truncated, ${missing} ${
          missing === 1 ? "entry is" : "entries are"
        }` +
        ` missing: expected head ${head.hash}, actual ${last.hash}`,
    };
  }
  if (last.sequence === head.sequence && last.hash !== head.hash) {
    return {
      id: last.id,
      reason: `The last entry is not the head: expected hash ${head.hash}, actual ${last.hash}`,
    };
  }
  // Entries added in the meantime have moved the head, so that it is read again.
  const beyond = tryRead(() => selectEntryAfter(db, selectHead(db)?.sequence ?? head.sequence));
  if (typeof beyond === "string") return { id: last.id, reason: beyond };
  return beyond && {
    id: beyond.id,
    reason: `Entry ${beyond.id} comes after the head ${head.hash}: expected none, ` +
      `actual hash ${beyond.entry_hash}`,
  };
}

/** Checks the counts of the statistics. No hash covers them; they change together with the entries. */
function findCountsFault(db: StateDatabase): Fault | undefined {
  const head = selectHead(db);
  if (!head) return { id: null, reason: "The head of the log is missing" };
  const entries = head.sequence - (selectAnchor(db)?.sequence ?? 0);
  const counted = tryRead(() => selectCountsSum(db));
  if (counted === entries) return undefined;
  const actual = typeof counted === "string" ? "an unreadable value" : String(counted);
  return {
    id: null,
    reason: `The counts of the log do not match its entries: expected ${entries}, actual ${actual}`,
  };
}

/** Returns the reason as a text if the rows contain a number that JavaScript cannot represent. */
function tryRead<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_SQLITE_ERROR") throw error;
    return `An entry cannot be read: ${(error as Error).message}`;
  }
}

const selectLast = (db: StateDatabase) => selectEntryBefore(db, Number.MAX_SAFE_INTEGER);

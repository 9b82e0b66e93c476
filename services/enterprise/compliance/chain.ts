/**
 * Verification of the compliance log: is every entry what was written, in its place, and is none
 * missing?
 *
 * Found is an entry that was changed, added, moved or taken away anywhere, an end that was cut off,
 * and a beginning that was, unless an anchor tells of it that an entry of the log announced. Not
 * found is a whole new chain with its head; who keeps the hash of a head elsewhere finds that too.
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
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { ThrottledError } from "../../errors.ts";
import { actorOf, recordEntry } from "./append.ts";
import { faultOf, GENESIS_HASH, shownEntry } from "./hash_chain.ts";
import { createPause } from "./turn.ts";

/** The action of the entry that announces what a retention deletes. */
export const RETENTION_ACTION = "compliance.retention";

/** Entries that are read at once. */
const STEP = 64;

/**
 * Each hash leaves some memory outside of the heap until the next collection, which nobody sees to
 * before it is hundreds of megabytes; giving these back then holds up everything for 200 ms. So it
 * is collected after every so many entries, which takes 20 ms.
 */
const COLLECT_EVERY = 500 * STEP;

/** Verifications that may wait for the one under way. */
const WAITING_MAX = 8;

/** When to come back then, in seconds. */
const RETRY_AFTER_S = 30;

/** What a verification looks at. */
export interface VerificationRange {
  /** ISO 8601, UTC: begins at the earliest entry that is not older. Default: at the first. */
  from?: string | undefined;
  /** Most entries to check. Default: all up to the end. */
  limit?: number | undefined;
}

export interface Verification {
  verified: boolean;
  entries_checked: number;
  /** `null` when nothing is broken, and when there is no entry to name. */
  broken_at_id: string | null;
  reason: string | null;
  /** The hash of the last entry of the whole log at that time. */
  head_hash: string | null;
}

/**
 * Verifies the log, in slices that hold up nobody else, and writes down that it did. Several wait
 * for each other.
 *
 * @throws {ThrottledError} When too many wait already.
 */
export async function verifyChain(
  deps: Pick<Deps, "db" | "log" | "now">,
  caller: Caller,
  range: VerificationRange,
): Promise<Verification> {
  const report = await inTurn(deps.db, () => walkChain(deps.db, range, createPause()));
  const { verified, entries_checked, broken_at_id, reason, head_hash } = report;
  if (selectComplianceConfig(deps.db).enabled) {
    await recordEntry(deps, {
      ...actorOf(caller),
      category: "security",
      severity: verified ? "info" : "critical",
      action: "compliance.verify",
      resource_type: "compliance",
      resource_id: broken_at_id,
      detail: reason ?? `${entries_checked} entries checked, all as they were written`,
      outcome: verified ? "success" : "failure",
      metadata: {
        address: caller.address,
        entries_checked,
        head_hash,
        from: range.from ?? null,
        limit: range.limit ?? null,
      },
      recorded_by: null,
    });
  }
  return report;
}

/**
 * Checks entries in their order, each against the hash of the one before it. What is added meanwhile
 * is not looked at, and what a retention deletes meanwhile is left out.
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
  const broken = (id: string | null, reason: string): Verification => ({
    verified: false,
    entries_checked: checked,
    broken_at_id: id,
    reason,
    head_hash: head?.hash ?? null,
  });
  if (!head) return broken(selectLast(db)?.id ?? null, "The head of the log is missing");
  const forged = beginningFault(db);
  if (forged) return broken(forged.id, forged.reason);

  let last = startOf(db, from);
  while (checked < limit) {
    // Read together with the entries, so that a retention cannot come between the two.
    const anchor = selectAnchor(db);
    if (anchor && anchor.sequence > last.sequence) last = { ...anchor, id: null };
    const step = Math.min(STEP, limit - checked);
    const rows = readable(() =>
      selectChain(db, { after: last.sequence, through: head.sequence, limit: step })
    );
    if (typeof rows === "string") return broken(last.id, rows);
    if (rows.length === 0) {
      const fault = endFault(db, last, head) ??
        (from === undefined && limit === Infinity ? countsFault(db) : undefined);
      if (fault) return broken(fault.id, fault.reason);
      break;
    }
    for (const row of rows) {
      const fault = entryFault(row, last);
      if (fault !== undefined) return broken(row.id, fault);
      last = { sequence: row.sequence, hash: row.entry_hash, id: row.id };
      checked++;
    }
    if (checked % COLLECT_EVERY === 0) collectGarbage();
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

/** Does nothing where the runtime does not offer it. */
function collectGarbage(): void {
  (globalThis as { gc?: (options: { type: "major" }) => void }).gc?.({ type: "major" });
}

/** A place in the chain; the id of the entry there, where there is one. */
export type Place = ChainLink & { id: string | null };

export interface Fault {
  /** The entry that it was found at; `null` where there is none to name. */
  id: string | null;
  reason: string;
}

/** What the first entry to be checked has to follow. */
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
 * An anchor stands for entries that are gone. It holds where an entry of the log, made by the
 * service and still there, announced that they would be.
 */
export function beginningFault(db: StateDatabase): Fault | undefined {
  const anchor = selectAnchor(db);
  const below = readable(() => selectEntryBefore(db, (anchor?.sequence ?? 0) + 1));
  if (typeof below === "string") return { id: null, reason: below };
  if (below) {
    const beginning = anchor ? `the anchor ${anchor.hash}` : "the first one";
    return { id: below.id, reason: `There are entries from before ${beginning}` };
  }
  if (!anchor) return undefined;
  const id = selectEntryAfter(db, anchor.sequence)?.id ?? null;
  const announced = announcedBy(db, anchor);
  if (!announced) {
    return { id, reason: `No entry of the log announces the anchor ${anchor.hash}` };
  }
  if (announced.sequence === anchor.sequence && announced.hash !== anchor.hash) {
    return {
      id,
      reason: `The anchor is not the one that was announced: expected hash ${announced.hash}, ` +
        `actual ${anchor.hash}`,
    };
  }
  return undefined;
}

/** How far the retention that an anchor belongs to was to go. */
function announcedBy(db: StateDatabase, anchor: ChainAnchor): ChainLink | undefined {
  const row = selectEntry(db, anchor.entry_id);
  if (row?.action !== RETENTION_ACTION || row.recorded_by !== null) return undefined;
  if (faultOf(row, row.previous_hash) !== undefined) return undefined;
  const { entries_before, anchor_hash } = shownEntry(row).metadata ?? {};
  if (typeof entries_before !== "number" || typeof anchor_hash !== "string") return undefined;
  if (entries_before < anchor.sequence || entries_before >= row.sequence) return undefined;
  return { sequence: entries_before, hash: anchor_hash };
}

/** What is wrong with an entry or its place, as a sentence; `undefined` where all is right. */
export function entryFault(row: ComplianceRow, last: Place): string | undefined {
  const missing = row.sequence - last.sequence - 1;
  if (last.id === null && missing > 0 && row.previous_hash !== last.hash) {
    return `The beginning of the log is missing, ${missing} ` +
      `${missing === 1 ? "entry" : "entries"} before ${row.id}: expected previous_hash ` +
      `${last.hash}, actual ${row.previous_hash}`;
  }
  return faultOf(row, last.hash) ?? placeFault(row, last);
}

/** Entries have their places without gaps; these are not hashed, but nothing of ours changes one. */
function placeFault(row: ComplianceRow, last: Place): string | undefined {
  if (row.sequence === last.sequence + 1) return undefined;
  return `Entry ${row.id} is not at its place: expected right after the one with hash ${last.hash}, ` +
    `actual ${row.sequence - last.sequence} places later`;
}

/** The last entry is the head's, and nothing comes after it. */
function endFault(db: StateDatabase, last: Place, head: ChainLink): Fault | undefined {
  if (last.sequence < head.sequence) {
    const missing = head.sequence - last.sequence;
    return {
      id: last.id ?? selectLast(db)?.id ?? null,
      reason:
        `The end of the log is cut off, ${missing} ${missing === 1 ? "entry is" : "entries are"}` +
        ` missing: expected head ${head.hash}, actual ${last.hash}`,
    };
  }
  if (last.sequence === head.sequence && last.hash !== head.hash) {
    return {
      id: last.id,
      reason: `The last entry is not the head's: expected hash ${head.hash}, actual ${last.hash}`,
    };
  }
  // By now there may be more entries, but then the head has moved along.
  const beyond = readable(() => selectEntryAfter(db, selectHead(db)?.sequence ?? head.sequence));
  if (typeof beyond === "string") return { id: last.id, reason: beyond };
  return beyond && {
    id: beyond.id,
    reason: `Entry ${beyond.id} comes after the head ${head.hash}: expected none, ` +
      `actual hash ${beyond.entry_hash}`,
  };
}

/** Statistics are made of counts that nothing hashes; they change in one step with the entries. */
function countsFault(db: StateDatabase): Fault | undefined {
  const head = selectHead(db);
  if (!head) return { id: null, reason: "The head of the log is missing" };
  const entries = head.sequence - (selectAnchor(db)?.sequence ?? 0);
  const counted = readable(() => selectCountsSum(db));
  if (counted === entries) return undefined;
  const actual = typeof counted === "string" ? "none that can be read" : String(counted);
  return {
    id: null,
    reason: `The counts of the log do not fit its entries: expected ${entries}, actual ${actual}`,
  };
}

/** A number that no computer of ours wrote cannot be read: then the reason is returned. */
function readable<T>(read: () => T): T | string {
  try {
    return read();
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_SQLITE_ERROR") throw error;
    return `An entry cannot be read: ${(error as Error).message}`;
  }
}

const selectLast = (db: StateDatabase) => selectEntryBefore(db, Number.MAX_SAFE_INTEGER);

/** By database: the end of the last one that waits, and how many do. */
const lines = new WeakMap<StateDatabase, { end: Promise<unknown>; waiting: number }>();

/** Runs one after the other: together they would be no faster, and slow everything else. */
async function inTurn<T>(db: StateDatabase, work: () => Promise<T>): Promise<T> {
  let line = lines.get(db);
  if (!line) lines.set(db, line = { end: Promise.resolve(), waiting: 0 });
  if (line.waiting > WAITING_MAX) {
    throw new ThrottledError("Too many verifications are under way", RETRY_AFTER_S);
  }
  line.waiting++;
  const result = line.end.then(work);
  line.end = result.catch(() => {});
  try {
    return await result;
  } finally {
    line.waiting--;
  }
}

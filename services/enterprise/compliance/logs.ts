/**
 * The compliance log as people see it: entries that they write and read. What the service writes by
 * itself is in `compliance_recording.ts` and `compliance_recorder.ts`.
 *
 * @module
 */

import { selectAnchor } from "../../../db/enterprise/chain_anchors.ts";
import {
  type ComplianceRow,
  countEntries,
  type EntryCount,
  type EntryFilter,
  selectCounts,
  selectEntries,
  selectEntry,
  selectEntryAfter,
  selectEntryBefore,
  selectHead,
  selectTimes,
  selectWindowStart,
  type TimeRange,
} from "../../../db/enterprise/compliance_logs.ts";
import { selectComplianceConfig } from "../../../db/enterprise/compliance_config.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import { actorOf, appendEntry, type NewEntry } from "./append.ts";
import { type ComplianceEntry, faultOf, GENESIS_HASH, shownEntry } from "./hash_chain.ts";
import { createPause } from "./turn.ts";

export {
  ACTOR_TYPES,
  CATEGORIES,
  OUTCOMES,
  SEVERITIES,
} from "../../../db/enterprise/compliance_logs.ts";
export type { ComplianceEntry, EntryFilter };

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries that are looked at in one step. */
const WINDOW = 5_000;

/** A time before all entries, and one after them, as they are compared: as texts. */
const BEGINNING = "";
const END = "~";

/** Later times are written in another way. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** What is asked of the log. Times are ISO 8601, UTC; both belong to what is asked for. */
export interface TimeFilter {
  from?: string | undefined;
  to?: string | undefined;
}

/** What somebody writes into the log. */
export type GivenEntry =
  & Omit<NewEntry, "actor_id" | "actor_type" | "recorded_by">
  & { actor_id?: string | undefined; actor_type?: NewEntry["actor_type"] | undefined };

/**
 * Writes an entry on behalf of `caller`, who is its actor unless it names another one. Who wrote it
 * is in `recorded_by` all the same: what the service saw itself can be told from what it was told.
 *
 * @throws {AppError} `conflict` while the log is off.
 */
export async function createEntry(
  deps: Pick<Deps, "db" | "now">,
  caller: Caller,
  { actor_id, actor_type, ...given }: GivenEntry,
): Promise<ComplianceEntry> {
  if (!selectComplianceConfig(deps.db).enabled) {
    throw new AppError("conflict", "The compliance log is off; PUT /config with enabled true");
  }
  const own = actorOf(caller);
  return await appendEntry(deps, {
    ...given,
    actor_id: actor_id ?? own.actor_id,
    actor_type: actor_type ?? (actor_id === undefined ? own.actor_type : "user"),
    recorded_by: caller.userId,
  });
}

/** Newest first. */
export async function listEntries(
  { db }: Pick<Deps, "db">,
  { from, to, limit, offset, ...filter }: EntryFilter & TimeFilter & {
    limit: number;
    offset: number;
  },
): Promise<{ logs: ComplianceEntry[]; total: number; limit: number; offset: number }> {
  const known = from === undefined && to === undefined ? knownCount(db, filter) : undefined;
  const rows: ComplianceRow[] = [];
  let total = 0;
  for await (const window of windows(db, rangeOf({ from, to }))) {
    const count = countEntries(db, filter, window);
    if (rows.length < limit && total + count > offset) {
      const skipped = Math.max(0, offset - total);
      rows.push(
        ...selectEntries(db, filter, window, { limit: limit - rows.length, offset: skipped }),
      );
    }
    total += count;
    if (known !== undefined && rows.length === limit) break;
  }
  return { logs: rows.map(shownEntry), total: known ?? total, limit, offset };
}

/** How many entries a time has. */
export async function countRange(
  { db }: Pick<Deps, "db">,
  time: TimeFilter,
): Promise<number> {
  let total = 0;
  for await (const window of windows(db, rangeOf(time))) {
    total += countEntries(db, {}, window);
  }
  return total;
}

/**
 * One entry, and whether it is what was written: its own hash, that of the entry before it and that
 * in the entry after it (or in the head) are compared.
 *
 * @throws {AppError} `not_found`
 */
export function getEntry(
  { db }: Pick<Deps, "db">,
  id: string,
): ComplianceEntry & { chain_valid: boolean } {
  const row = selectEntry(db, id);
  if (!row) throw notFound("Compliance log entry", id);
  const before = selectEntryBefore(db, row.sequence)?.entry_hash ?? selectAnchor(db)?.hash ??
    GENESIS_HASH;
  const after = selectEntryAfter(db, row.sequence)?.previous_hash ?? selectHead(db)?.hash;
  const chain_valid = faultOf(row, before) === undefined && after === row.entry_hash;
  return { ...shownEntry(row), chain_valid };
}

/** Times are ISO 8601, UTC; `null` without entries. */
export interface ComplianceStats {
  total_entries: number;
  last_24h: number;
  oldest_entry: string | null;
  newest_entry: string | null;
  by_category: Record<string, number>;
  by_severity: Record<string, number>;
  by_outcome: Record<string, number>;
  /** The hash of the last entry; keep it elsewhere to detect a rewritten log. */
  head_hash: string | null;
}

/** Every category, severity and outcome that has entries is named. */
export async function complianceStats(
  deps: Pick<Deps, "db" | "now">,
): Promise<ComplianceStats> {
  const { db, now } = deps;
  const last_24h = await countRange(deps, {
    from: new Date(now().getTime() - DAY_MS).toISOString(),
  });
  const counts = selectCounts(db);
  const { oldest, newest } = selectTimes(db);
  return {
    total_entries: sum(counts),
    last_24h,
    oldest_entry: oldest,
    newest_entry: newest,
    by_category: grouped(counts, "category"),
    by_severity: grouped(counts, "severity"),
    by_outcome: grouped(counts, "outcome"),
    head_hash: selectHead(db)?.hash ?? null,
  };
}

/** From the first moment that belongs to it to the first that does not. */
export function rangeOf({ from, to }: TimeFilter): TimeRange {
  const lastMs = to === undefined ? LAST_MS : Date.parse(to);
  return {
    from: from ?? BEGINNING,
    before: lastMs < LAST_MS ? new Date(lastMs + 1).toISOString() : END,
  };
}

/**
 * Goes through a time from its end to its beginning, in stretches of some thousand entries. A
 * filter that an index knows is answered at once; two of them together, or a count, have to be
 * looked at entry by entry, and that holds nobody up this way.
 */
async function* windows(
  db: Deps["db"],
  { from, before }: TimeRange,
): AsyncGenerator<TimeRange> {
  const pause = createPause();
  let end = before;
  for (;;) {
    const start = selectWindowStart(db, { from, before: end }, WINDOW);
    yield { from: start ?? from, before: end };
    if (start === undefined) return;
    end = start;
    await pause();
  }
}

/** How many entries a filter leaves, where that is counted as they are written. */
function knownCount(db: Deps["db"], filter: EntryFilter): number | undefined {
  const { actor_id, action, category, severity, outcome } = filter;
  if (actor_id !== undefined || action !== undefined) return undefined;
  return sum(
    selectCounts(db).filter((count) =>
      count.category === (category ?? count.category) &&
      count.severity === (severity ?? count.severity) &&
      count.outcome === (outcome ?? count.outcome)
    ),
  );
}

const sum = (counts: readonly EntryCount[]) =>
  counts.reduce((total, { entries }) => total + entries, 0);

function grouped(
  counts: readonly EntryCount[],
  by: "category" | "severity" | "outcome",
): Record<string, number> {
  // No plain object: somebody may have put any name there, `constructor` too.
  const groups = new Map<string, number>();
  for (const { [by]: name, entries } of counts) {
    groups.set(name, (groups.get(name) ?? 0) + entries);
  }
  return Object.fromEntries(groups);
}

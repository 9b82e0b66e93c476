/**
 * Entries of the compliance log that clients read and write. The service's own entries are recorded
 * by `recording.ts` (requests) and `recorder.ts` (events).
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
import type { Page, Paged } from "../../../db/page.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { createYield } from "../../waiting.ts";
import { actorOf, appendEntry, type NewEntry } from "./append.ts";
import { type ComplianceEntry, findHashFault, GENESIS_HASH, toEntry } from "./hash_chain.ts";

export {
  ACTOR_TYPES,
  CATEGORIES,
  OUTCOMES,
  SEVERITIES,
} from "../../../db/enterprise/compliance_logs.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** Entries per query. */
const WINDOW = 5_000;

/** Before and after all times, which are compared as text. */
const START = "";
const END = "~";

/** The last time with a four-digit year in ISO 8601. */
const LAST_MS = Date.parse("9999-12-31T23:59:59.999Z");

/** A time range. Both ends are ISO 8601, UTC, and inclusive. */
export interface TimeFilter {
  from?: string | undefined;
  to?: string | undefined;
}

/** An entry that a client submits. */
type SubmittedEntry =
  & Omit<NewEntry, "actor_id" | "actor_type" | "recorded_by">
  & { actor_id?: string | undefined; actor_type?: NewEntry["actor_type"] | undefined };

/**
 * Appends an entry for `caller`, who is its actor unless the entry names another one. `recorded_by`
 * distinguishes submitted entries from those that the service recorded itself.
 *
 * @throws {AppError} `conflict` while the log is disabled.
 */
export async function createEntry(
  deps: Pick<Deps, "compliance" | "db" | "now">,
  caller: Caller,
  { actor_id, actor_type, ...fields }: SubmittedEntry,
): Promise<ComplianceEntry> {
  if (!selectComplianceConfig(deps.db).enabled) {
    throw new AppError(
      "conflict",
      "The compliance log is disabled; enable it with PUT /config and enabled: true",
    );
  }
  const own = actorOf(caller);
  return await appendEntry(deps, {
    ...fields,
    actor_id: actor_id ?? own.actor_id,
    actor_type: actor_type ?? (actor_id === undefined ? own.actor_type : "user"),
    recorded_by: caller.userId,
  });
}

/** Lists entries, newest first. */
export async function listEntries(
  { db }: Pick<Deps, "db">,
  { from, to, limit, offset, ...filter }: EntryFilter & TimeFilter & Page,
): Promise<{ logs: ComplianceEntry[] } & Paged> {
  const known = from === undefined && to === undefined ? knownCount(db, filter) : undefined;
  const rows: ComplianceRow[] = [];
  let total = 0;
  for await (const window of windowsOf(db, rangeOf({ from, to }))) {
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
  return { logs: rows.map(toEntry), total: known ?? total, limit, offset };
}

export async function countRange({ db }: Pick<Deps, "db">, time: TimeFilter): Promise<number> {
  let total = 0;
  for await (const window of windowsOf(db, rangeOf(time))) {
    total += countEntries(db, {}, window);
  }
  return total;
}

/**
 * Returns an entry and whether it is valid: its hash, the hash of the previous entry and the
 * `previous_hash` of the next entry (or the head) have to match.
 *
 * @throws {AppError} `not_found`
 */
export function getEntry(
  { db }: Pick<Deps, "db">,
  id: string,
): ComplianceEntry & { chain_valid: boolean } {
  const row = requireFound(selectEntry(db, id), "Compliance log entry", id);
  const before = selectEntryBefore(db, row.sequence)?.entry_hash ?? selectAnchor(db)?.hash ??
    GENESIS_HASH;
  const after = selectEntryAfter(db, row.sequence)?.previous_hash ?? selectHead(db)?.hash;
  const chain_valid = findHashFault(row, before) === undefined && after === row.entry_hash;
  return { ...toEntry(row), chain_valid };
}

/** Times are ISO 8601, UTC; `null` without entries. */
interface ComplianceStats {
  total_entries: number;
  last_24h: number;
  oldest_entry: string | null;
  newest_entry: string | null;
  by_category: Record<string, number>;
  by_severity: Record<string, number>;
  by_outcome: Record<string, number>;
  /** The hash of the last entry. Store it elsewhere to detect a rewritten log. */
  head_hash: string | null;
}

/** Returns counts for each category, severity and outcome that has entries. */
export async function complianceStats(deps: Pick<Deps, "db" | "now">): Promise<ComplianceStats> {
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
    by_category: sumBy(counts, "category"),
    by_severity: sumBy(counts, "severity"),
    by_outcome: sumBy(counts, "outcome"),
    head_hash: selectHead(db)?.hash ?? null,
  };
}

/** Converts a filter to a half-open range. */
export function rangeOf({ from, to }: TimeFilter): TimeRange {
  const lastMs = to === undefined ? LAST_MS : Date.parse(to);
  return {
    from: from ?? START,
    before: lastMs < LAST_MS ? new Date(lastMs + 1).toISOString() : END,
  };
}

/**
 * Divides a time range, from its end to its start, into windows of some thousand entries. Filters
 * without an index scan every entry; the windows keep such a scan from blocking the event loop.
 */
async function* windowsOf(db: Deps["db"], { from, before }: TimeRange): AsyncGenerator<TimeRange> {
  const pause = createYield();
  let end = before;
  for (;;) {
    const start = selectWindowStart(db, { from, before: end }, WINDOW);
    yield { from: start ?? from, before: end };
    if (start === undefined) return;
    end = start;
    await pause();
  }
}

/** Returns the number of matching entries if the stored counts contain it. */
function knownCount(db: Deps["db"], filter: EntryFilter): number | undefined {
  const { actor_id, action, q, category, severity, outcome } = filter;
  if (actor_id !== undefined || action !== undefined || q !== undefined) return undefined;
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

function sumBy(
  counts: readonly EntryCount[],
  by: "category" | "severity" | "outcome",
): Record<string, number> {
  // A Map, because a tampered name can be `constructor`.
  const groups = new Map<string, number>();
  for (const { [by]: name, entries } of counts) {
    groups.set(name, (groups.get(name) ?? 0) + entries);
  }
  return Object.fromEntries(groups);
}

/**
 * The `compliance_logs` table: the entries of the compliance log, each chained to the one before;
 * `compliance_head`: the end of that chain; and `compliance_counts`: the number of entries of each
 * kind, maintained by triggers.
 *
 * @module
 */

import { number, type Row, table, text } from "../columns.ts";
import type { Database } from "../database.ts";
import type { Page } from "../page.ts";

export const CATEGORIES = [
  "authentication",
  "authorization",
  "configuration",
  "data",
  "container",
  "system",
  "security",
] as const;
export type Category = (typeof CATEGORIES)[number];

export const SEVERITIES = ["info", "warning", "error", "critical"] as const;
export type Severity = (typeof SEVERITIES)[number];

export const ACTOR_TYPES = ["user", "system", "api_key", "agent"] as const;
export type ActorType = (typeof ACTOR_TYPES)[number];

export const OUTCOMES = ["success", "failure"] as const;
type Outcome = (typeof OUTCOMES)[number];

const logs = table("compliance_logs", {
  /** Place in the chain, from 1 and without gaps. */
  sequence: number(),
  id: text(),
  event_id: text(),
  category: text<Category>(),
  severity: text<Severity>(),
  actor_id: text(),
  actor_type: text<ActorType>(),
  action: text(),
  resource_type: text<string | null>(),
  resource_id: text<string | null>(),
  detail: text<string | null>(),
  outcome: text<Outcome>(),
  /** A JSON object in its canonical form. */
  metadata: text<string | null>(),
  /** The caller that added the entry through the API; `null` for the service itself. */
  recorded_by: text<string | null>(),
  previous_hash: text(),
  entry_hash: text(),
  /** ISO 8601, UTC. */
  created_at: text(),
}, { order: "created_at DESC, sequence DESC" });

/** An entry as stored: every field but `sequence` and `entry_hash` is hashed. */
export type ComplianceRow = Row<typeof logs>;

export const { find: selectEntry } = logs;

/** A place in the chain. */
export interface ChainLink {
  sequence: number;
  hash: string;
}

/** Selects entries; a missing field matches all. */
export interface EntryFilter {
  category?: Category | undefined;
  severity?: Severity | undefined;
  outcome?: Outcome | undefined;
  actor_id?: string | undefined;
  action?: string | undefined;
  /** A part of the actor, the action, the resource or the detail, in any case (ASCII). */
  q?: string | undefined;
}

/** A time range, ISO 8601, UTC: `from` is inclusive, `before` exclusive. */
export interface TimeRange {
  from: string;
  before: string;
}

/**
 * The end of the chain; `undefined` if the row was removed outside this program. A sequence that
 * JavaScript cannot represent is `Number.MAX_SAFE_INTEGER`.
 */
export function selectHead(db: Database): ChainLink | undefined {
  return db.get<ChainLink>(
    `SELECT iif(sequence BETWEEN 0 AND :max, sequence, :max) AS sequence, hash
     FROM compliance_head`,
    { max: Number.MAX_SAFE_INTEGER },
  );
}

export function updateHeadSequence(db: Database, sequence: number): void {
  db.run("UPDATE compliance_head SET sequence = :sequence", { sequence });
}

/**
 * Adds an entry and makes it the head. A trigger refuses an entry that does not follow the head.
 */
export function insertEntry(db: Database, row: ComplianceRow): void {
  logs.insert(db, row);
  db.run("UPDATE compliance_head SET sequence = :sequence, hash = :hash", {
    sequence: row.sequence,
    hash: row.entry_hash,
  });
}

/** Undoes what `work` did when it throws, and leaves the transaction around it open. */
export function withSavepoint<T>(db: Database, work: () => T): T {
  db.run("SAVEPOINT compliance");
  try {
    const result = work();
    db.run("RELEASE compliance");
    return result;
  } catch (error) {
    try {
      db.run("ROLLBACK TO compliance");
      db.run("RELEASE compliance");
    } catch { /* a full disk has rolled back the whole transaction */ }
    throw error;
  }
}

/** Runs `work` on a snapshot: it does not see later writes of other processes. */
export async function inReadTransaction<T>(db: Database, work: () => Promise<T>): Promise<T> {
  db.run("BEGIN");
  try {
    return await work();
  } finally {
    db.run("ROLLBACK");
  }
}

/** The entry at a place in the chain. */
export function selectEntryAt(db: Database, sequence: number): ComplianceRow | undefined {
  return logs.selectOne(db, "WHERE sequence = :sequence", { sequence });
}

/** The entries after one place in the chain through another, in order. */
export function selectChain(
  db: Database,
  { after, through, limit }: { after: number; through: number; limit: number },
): ComplianceRow[] {
  return logs.select(
    db,
    "WHERE sequence > :after AND sequence <= :through ORDER BY sequence LIMIT :limit",
    { after, through, limit },
  );
}

/** The nearest entry before a place in the chain. */
export function selectEntryBefore(db: Database, sequence: number): ComplianceRow | undefined {
  return logs.selectOne(db, "WHERE sequence < :sequence ORDER BY sequence DESC LIMIT 1", {
    sequence,
  });
}

/**
 * The nearest entry after a place in the chain.
 *
 * @throws {RangeError} For a manipulated place beyond the range of numbers.
 */
export function selectEntryAfter(db: Database, sequence: number): ComplianceRow | undefined {
  return logs.selectOne(db, "WHERE sequence > :sequence ORDER BY sequence LIMIT 1", { sequence });
}

/** The place of the earliest entry at or after a time. */
export function selectSequenceFrom(db: Database, from: string): number | undefined {
  return db.get<{ sequence: number }>(
    `SELECT sequence FROM compliance_logs
     WHERE created_at >= :from ORDER BY created_at, sequence LIMIT 1`,
    { from },
  )?.sequence;
}

/**
 * The time from which the newest `size` entries of a range start; `undefined` if it has fewer.
 * Reads at most `size` keys of an index.
 */
export function selectWindowStart(
  db: Database,
  { from, before }: TimeRange,
  size: number,
): string | undefined {
  return db.get<{ created_at: string }>(
    `SELECT created_at FROM compliance_logs WHERE created_at >= :from AND created_at < :before
     ORDER BY created_at DESC LIMIT 1 OFFSET :offset`,
    { from, before, offset: size - 1 },
  )?.created_at;
}

export function countEntries(db: Database, filter: EntryFilter, range: TimeRange): number {
  const { where, params } = toCondition(filter, range);
  return logs.countWhere(db, where, params);
}

/** Number of entries through a place in the chain. */
export function countEntriesThrough(db: Database, sequence: number): number {
  return logs.countWhere(db, "WHERE sequence <= :sequence", { sequence });
}

/** Newest first. */
export function selectEntries(
  db: Database,
  filter: EntryFilter,
  range: TimeRange,
  page: Page,
): ComplianceRow[] {
  const { where, params } = toCondition(filter, range);
  return logs.page(db, page, where, params);
}

/** The places of the newest entries of a range, newest first. */
export function selectNewestSequences(
  db: Database,
  { from, before }: TimeRange,
  limit: number,
): number[] {
  return db.all<{ sequence: number }>(
    `SELECT sequence FROM compliance_logs WHERE created_at >= :from AND created_at < :before
     ORDER BY created_at DESC, sequence DESC LIMIT :limit`,
    { from, before, limit },
  ).map(({ sequence }) => sequence);
}

/** On lines of their own, so that a search does not match across two columns. */
const SEARCHED = "concat_ws(char(10), actor_id, action, resource_type, resource_id, detail)";

function toCondition(filter: EntryFilter, { from, before }: TimeRange) {
  const { category, severity, outcome, actor_id, action, q } = filter;
  const given = Object.entries({ category, severity, outcome, actor_id, action })
    .filter((field): field is [string, string] => field[1] !== undefined);
  return {
    where: "WHERE " + [
      ...given.map(([column]) => `${column} = :${column}`),
      ...(q === undefined ? [] : [`instr(lower(${SEARCHED}), lower(:q)) > 0`]),
      "created_at >= :from AND created_at < :before",
    ].join(" AND "),
    params: { ...Object.fromEntries(given), ...(q !== undefined && { q }), from, before },
  };
}

/** Number of entries of one kind. */
export interface EntryCount {
  category: Category;
  severity: Severity;
  outcome: Outcome;
  entries: number;
}

export function selectCounts(db: Database): EntryCount[] {
  return db.all<EntryCount>(
    "SELECT category, severity, outcome, entries FROM compliance_counts WHERE entries > 0",
  );
}

/**
 * The total of the counts.
 *
 * @throws {RangeError} For a manipulated count beyond the range of numbers.
 */
export function selectCountsSum(db: Database): number {
  return db.get<{ n: number }>("SELECT coalesce(sum(entries), 0) AS n FROM compliance_counts")!.n;
}

/** Times of the oldest and the newest entry; `null` without entries. */
export function selectTimes(db: Database): { oldest: string | null; newest: string | null } {
  return {
    oldest: db.get<{ at: string | null }>("SELECT min(created_at) AS at FROM compliance_logs")!.at,
    newest: db.get<{ at: string | null }>("SELECT max(created_at) AS at FROM compliance_logs")!.at,
  };
}

/** Only entries through an anchor can be deleted. @returns How many were deleted. */
export function deleteEntriesThrough(db: Database, sequence: number): number {
  // The number of changed rows excludes the changes of triggers.
  return db.run("DELETE FROM compliance_logs WHERE sequence <= :sequence", { sequence });
}

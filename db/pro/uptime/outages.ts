/** The `outages` table: when each monitor was down. Outlives the monitors. @module */

import { type Row, table, text } from "../../columns.ts";
import type { Database } from "../../database.ts";
import type { Page } from "../../page.ts";

export const OUTAGE_STATUSES = ["open", "resolved"] as const;
export type OutageStatus = (typeof OUTAGE_STATUSES)[number];

/** Selects outages; a missing field matches all. */
export interface OutageFilter {
  monitorIds?: readonly string[] | undefined;
  status?: OutageStatus | undefined;
  /** Only outages that ended later; ISO 8601, UTC. */
  from?: string | undefined;
  /** Only outages that started before; ISO 8601, UTC. */
  to?: string | undefined;
}

const outages = table("outages", {
  id: text(),
  monitorId: text(),
  /** Name of the monitor when it went down. */
  monitorName: text(),
  /** The error of the check that found it down. */
  cause: text(),
  /** Time of the first failed check. */
  startedAt: text(),
  /** `null` while the monitor is down. */
  resolvedAt: text<string | null>(),
}, { order: "started_at DESC, id" });

/** One outage as stored. Times are ISO 8601, UTC. */
export type StoredOutage = Row<typeof outages>;

export const { insert: insertOutage } = outages;

/** Newest first. */
export function selectOutages(
  db: Database,
  { limit = -1, offset = 0, ...filter }: OutageFilter & Partial<Page> = {},
): StoredOutage[] {
  const { where, params } = toCondition(filter);
  return outages.page(db, { limit, offset }, where, params);
}

export function countOutages(db: Database, filter: OutageFilter = {}): number {
  const { where, params } = toCondition(filter);
  return outages.countWhere(db, where, params);
}

/** The unresolved outage of a monitor, or `undefined`. */
export function selectOpenOutage(db: Database, monitorId: string): StoredOutage | undefined {
  return outages.selectOne(db, "WHERE monitor_id = :monitorId AND resolved_at IS NULL", {
    monitorId,
  });
}

/**
 * Ends an open outage. One that started later (the clock was set back) ends when it started.
 *
 * @returns Whether the outage was open.
 */
export function updateOutageResolved(db: Database, id: string, resolvedAt: string): boolean {
  return db.run(
    `UPDATE outages SET resolved_at = max(started_at, :resolvedAt)
     WHERE id = :id AND resolved_at IS NULL`,
    { id, resolvedAt },
  ) > 0;
}

/** @returns How many were deleted. */
export function deleteOutagesBefore(db: Database, resolvedBefore: string): number {
  return db.run("DELETE FROM outages WHERE resolved_at < :resolvedBefore", { resolvedBefore });
}

function toCondition({ monitorIds, status, from, to }: OutageFilter) {
  const conditions = [
    ...(monitorIds ? ["monitor_id IN (SELECT value FROM json_each(:monitorIds))"] : []),
    ...(status ? [`resolved_at IS ${status === "open" ? "" : "NOT "}NULL`] : []),
    ...(from !== undefined ? ["(resolved_at IS NULL OR resolved_at > :from)"] : []),
    ...(to !== undefined ? ["started_at < :to"] : []),
  ];
  return {
    where: conditions.length ? `WHERE ${conditions.join(" AND ")}` : "",
    params: {
      ...(monitorIds && { monitorIds: JSON.stringify(monitorIds) }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    },
  };
}

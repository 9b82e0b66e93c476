/**
 * The `outages` table: when which monitor was down. Outlives the monitors.
 *
 * @module
 */

import type { Database } from "../../database.ts";

export const OUTAGE_STATUSES = ["open", "resolved"] as const;
export type OutageStatus = (typeof OUTAGE_STATUSES)[number];

/** One outage as stored. Times are ISO 8601, UTC. */
export interface StoredOutage {
  id: string;
  monitorId: string;
  /** As the monitor was called when it went down. */
  monitorName: string;
  /** What the check that made it down said. */
  cause: string;
  /** The first failed check. */
  startedAt: string;
  /** `null` while it goes on. */
  resolvedAt: string | null;
}

/** Which outages; what is left out does not narrow. */
export interface OutageFilter {
  monitorIds?: readonly string[] | undefined;
  status?: OutageStatus | undefined;
  /** Only those that were not over by then; ISO 8601, UTC. */
  from?: string | undefined;
  /** Only those that began before; ISO 8601, UTC. */
  to?: string | undefined;
}

const COLUMNS = `
  id, monitor_id AS monitorId, monitor_name AS monitorName, cause, started_at AS startedAt,
  resolved_at AS resolvedAt`;

/** Newest first. */
export function selectOutages(
  db: Database,
  { limit = -1, offset = 0, ...filter }: OutageFilter & { limit?: number; offset?: number } = {},
): StoredOutage[] {
  const { where, params } = conditions(filter);
  return db.all<StoredOutage>(
    `SELECT ${COLUMNS} FROM outages ${where}
     ORDER BY started_at DESC, id LIMIT :limit OFFSET :offset`,
    { ...params, limit, offset },
  );
}

export function countOutages(db: Database, filter: OutageFilter = {}): number {
  const { where, params } = conditions(filter);
  return db.get<{ n: number }>(`SELECT count(*) AS n FROM outages ${where}`, params)!.n;
}

/** The outage of a monitor that goes on, if there is one. */
export function selectOpenOutage(db: Database, monitorId: string): StoredOutage | undefined {
  return db.get<StoredOutage>(
    `SELECT ${COLUMNS} FROM outages WHERE monitor_id = :monitorId AND resolved_at IS NULL`,
    { monitorId },
  );
}

export function insertOutage(db: Database, outage: StoredOutage): void {
  db.run(
    `INSERT INTO outages (id, monitor_id, monitor_name, cause, started_at, resolved_at)
     VALUES (:id, :monitorId, :monitorName, :cause, :startedAt, :resolvedAt)`,
    { ...outage },
  );
}

/** Ends an open outage; one that began later (the clock was set back) ends as it began. */
export function updateOutageResolved(db: Database, id: string, resolvedAt: string): boolean {
  return db.run(
    `UPDATE outages SET resolved_at = max(started_at, :resolvedAt)
     WHERE id = :id AND resolved_at IS NULL`,
    { id, resolvedAt },
  ) > 0;
}

/** @returns How many went. */
export function deleteOutagesBefore(db: Database, resolvedBefore: string): number {
  return db.run("DELETE FROM outages WHERE resolved_at < :resolvedBefore", { resolvedBefore });
}

/** The text is made of fixed pieces only, so that there are few statements to be compiled. */
function conditions({ monitorIds, status, from, to }: OutageFilter) {
  const pieces = [
    ...(monitorIds ? ["monitor_id IN (SELECT value FROM json_each(:monitorIds))"] : []),
    ...(status ? [`resolved_at IS ${status === "open" ? "" : "NOT "}NULL`] : []),
    ...(from !== undefined ? ["(resolved_at IS NULL OR resolved_at > :from)"] : []),
    ...(to !== undefined ? ["started_at < :to"] : []),
  ];
  return {
    where: pieces.length ? `WHERE ${pieces.join(" AND ")}` : "",
    params: {
      ...(monitorIds && { monitorIds: JSON.stringify(monitorIds) }),
      ...(from !== undefined && { from }),
      ...(to !== undefined && { to }),
    },
  };
}

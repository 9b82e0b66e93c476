/** The `fleet_pending` table: requests of this hub that wait for a host. @module */

import type { Database } from "./database.ts";
import { json, type Row, table, text } from "./columns.ts";

/**
 * - `pending`: the host does not have it yet
 * - `running`: the host has it
 * - `succeeded`, `failed`: its job has ended
 * - `refused`: nothing was done
 * - `expired`: the host was away for too long, also to tell what became of it
 */
export const PENDING_STATES = [
  "pending",
  "running",
  "succeeded",
  "failed",
  "refused",
  "expired",
] as const;
export type PendingState = (typeof PENDING_STATES)[number];

const pending = table("fleet_pending", {
  id: text(),
  hostId: text(),
  userId: text(),
  userName: text(),
  apiToken: json<{ id: string; name: string; hash: string } | null>(),
  role: text<"viewer" | "operator" | "admin">(),
  method: text<"POST" | "PUT">(),
  path: text(),
  /** Sealed; `null` after the end. */
  body: text<string | null>(),
  /** Ids of containers by name. */
  base: json<Record<string, string> | null>(),
  state: text<PendingState>(),
  /** At the host. */
  jobId: text<string | null>(),
  error: text<string | null>(),
  createdAt: text(),
  expiresAt: text(),
  exportedAt: text<string | null>(),
  endedAt: text<string | null>(),
}, { order: "rowid" });

/** One request as stored. Times are ISO 8601, UTC. */
export type StoredPending = Row<typeof pending>;

export const {
  find: selectFleetPending,
  all: selectAllFleetPending,
  insert: insertFleetPending,
  delete: deleteFleetPending,
  count: countFleetPending,
} = pending;

const OPEN = "state IN ('pending', 'running')";

/** Those without an end, the oldest first. */
export const selectOpenFleetPending = (db: Database): StoredPending[] =>
  pending.select(db, `WHERE ${OPEN} ORDER BY rowid`);

/** The requests that a host does not have yet, the oldest first. */
export const selectFleetPendingOfHost = (db: Database, hostId: string): StoredPending[] =>
  pending.select(db, "WHERE host_id = :hostId AND state = 'pending' ORDER BY rowid", {
    hostId,
  });

/** @returns Whether it was without an end. */
export const updateOpenFleetPending = (
  db: Database,
  id: string,
  changes: Partial<StoredPending>,
): boolean => pending.update(db, id, changes, OPEN);

/** @param runningSince Expiry before which hosts are not asked about requests that they have. */
export function expireFleetPending(db: Database, at: string, runningSince: string): number {
  return db.run(
    `UPDATE fleet_pending SET state = 'expired', body = NULL, ended_at = :at
     WHERE state = 'pending' AND expires_at <= :at
        OR state = 'running' AND expires_at <= :runningSince`,
    { at, runningSince },
  );
}

export function deleteFleetPendingBefore(db: Database, endedAt: string): void {
  db.run("DELETE FROM fleet_pending WHERE ended_at < :endedAt", { endedAt });
}

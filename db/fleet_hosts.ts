/** The `fleet_hosts` table: the hosts of the fleet of this hub. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const hosts = table("fleet_hosts", {
  id: text(),
  name: text(),
  labels: json<Record<string, string>>(),
  /** X25519 and Ed25519, base64url. */
  linkKey: text(),
  noteKey: text(),
  machine: text(),
  version: text(),
  /** Address of its last connection. */
  address: text(),
  /** Address that this hub dials; `null` if the host dials. */
  dialAddress: text<string | null>(),
  inviteId: text<string | null>(),
  /** Whether an admin has to accept it first. */
  isPending: boolean(),
  /** Number of the last challenge that the host has confirmed. */
  challenge: number(),
  joinedAt: text(),
  lastSeenAt: text<string | null>(),
  /** Whether its link is open, for commands beside the service that has it. */
  isConnected: boolean(),
  /** Whether an event has reported that it is away. */
  isReportedAway: boolean(),
  leftAt: text<string | null>(),
}, { order: "name" });

/** One host as stored. Times are ISO 8601, UTC. */
export type StoredHost = Row<typeof hosts>;

export const {
  find: selectFleetHost,
  all: selectFleetHosts,
  insert: insertFleetHost,
  update: updateFleetHost,
  delete: deleteFleetHost,
  count: countFleetHosts,
} = hosts;

export function selectFleetHostByKey(db: Database, linkKey: string): StoredHost | undefined {
  return hosts.selectOne(db, "WHERE link_key = :linkKey", { linkKey });
}

export function selectFleetHostByName(db: Database, name: string): StoredHost | undefined {
  return hosts.selectOne(db, "WHERE name = :name", { name });
}

/** The host whose name differs at most by case. */
export function selectFleetHostBySimilarName(db: Database, name: string): StoredHost | undefined {
  return hosts.selectOne(db, "WHERE name = :name COLLATE NOCASE", { name });
}

/** Hosts that this hub dials. */
export function selectDialledFleetHosts(db: Database): StoredHost[] {
  return hosts.select(db, "WHERE dial_address IS NOT NULL AND left_at IS NULL ORDER BY id");
}

/** After a start, no link is open. */
export function clearConnectedFleetHosts(db: Database): void {
  db.run("UPDATE fleet_hosts SET is_connected = 0 WHERE is_connected = 1");
}

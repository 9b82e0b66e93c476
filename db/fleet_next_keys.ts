/**
 * The tables `fleet_next_keys` and `fleet_host_next_keys`: keys that replace those of this installation,
 * and those that hosts of this hub have announced.
 *
 * @module
 */

import { boolean, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import { insertFormerHubKey } from "./fleet_hub_keys.ts";
import { replaceFleetKey, replaceFormerFleetKey, selectFleetKey } from "./fleet_keys.ts";
import { selectFleetHost, type StoredHost, updateFleetHost } from "./fleet_hosts.ts";

const own = table("fleet_next_keys", {
  purpose: text<"link" | "note">(),
  /** Base64url. */
  publicKey: text(),
  /** Sealed, for the purpose of the key that it replaces. */
  privateKey: text(),
  createdAt: text(),
  /** Whether the hub has stored it. */
  isConfirmed: boolean(),
}, { key: "purpose" });

export type NextKey = Row<typeof own>;

export const { find: selectNextKey, insert: insertNextKey, all: selectNextKeys } = own;

/** The hub has stored them. */
export function confirmNextKeys(db: Database): void {
  db.run("UPDATE fleet_next_keys SET is_confirmed = 1 WHERE is_confirmed = 0");
}

export function deleteNextKeys(db: Database): void {
  db.run("DELETE FROM fleet_next_keys");
}

/** Makes the next keys those of this installation, and keeps the former one for links, also for its hosts. */
export function promoteNextKeys(db: Database, { isHub }: { isHub: boolean }): void {
  db.transaction(() => {
    const former = selectFleetKey(db, "link");
    if (former) replaceFormerFleetKey(db, former);
    if (former && isHub) insertFormerHubKey(db, former);
    for (const { isConfirmed: _, ...key } of selectNextKeys(db)) replaceFleetKey(db, key);
    deleteNextKeys(db);
  });
}

const ofHosts = table("fleet_host_next_keys", {
  hostId: text(),
  /** X25519 and Ed25519, base64url. */
  linkKey: text(),
  noteKey: text(),
}, { key: "hostId" });

export const { replace: replaceHostNextKeys } = ofHosts;

export function selectFleetHostByNextKey(db: Database, linkKey: string): StoredHost | undefined {
  const next = ofHosts.selectOne(db, "WHERE link_key = :linkKey", { linkKey });
  return next && selectFleetHost(db, next.hostId);
}

/** Makes the next keys of a host its keys: the former ones are not valid any more. */
export function promoteHostKeys(db: Database, hostId: string): void {
  const next = ofHosts.find(db, hostId);
  if (!next) return;
  const { linkKey, noteKey } = next;
  db.transaction(() => {
    updateFleetHost(db, hostId, { linkKey, noteKey });
    ofHosts.delete(db, hostId);
  });
}

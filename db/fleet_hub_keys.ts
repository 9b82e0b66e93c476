/**
 * The tables `fleet_hub_keys`, `fleet_host_hub_keys` and `fleet_known_hub_keys`: former keys of this hub for
 * links, its key as each host knows it by name, and the keys of the hub of this member.
 *
 * @module
 */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

/** Limit of former keys: a host that was away for a year has to join again. */
const FORMER_MAX = 12;

const former = table("fleet_hub_keys", {
  /** Base64url. */
  publicKey: text(),
  /** Sealed, as the key for links. */
  privateKey: text(),
  createdAt: text(),
}, { key: "publicKey", order: "created_at DESC" });

export type FormerHubKey = Row<typeof former>;

/** The newest first. */
export const { all: selectFormerHubKeys } = former;

export function insertFormerHubKey(db: Database, key: FormerHubKey): void {
  former.replace(db, key);
  for (const { publicKey } of former.all(db).slice(FORMER_MAX)) former.delete(db, publicKey);
}

const ofHosts = table("fleet_host_hub_keys", { hostId: text(), hubKey: text() }, { key: "hostId" });

export const { find: selectHostHubKey, replace: replaceHostHubKey } = ofHosts;

/** The id of the only row. */
const ID = 1;

const known = table("fleet_known_hub_keys", { id: number(), keys: json<string[]>() });

/** Keys of the hub besides that at the time of joining, the newest first. */
export const selectKnownHubKeys = (db: Database): string[] => known.find(db, ID)?.keys ?? [];

export const replaceKnownHubKeys = (db: Database, keys: readonly string[]): void =>
  known.replace(db, { id: ID, keys: [...keys] });

export const deleteKnownHubKeys = (db: Database): void => void known.delete(db, ID);

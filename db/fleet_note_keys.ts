/**
 * The tables `fleet_note_keys`, `fleet_host_note_keys` and `fleet_known_note_keys`: former keys of this hub for
 * notes, its key that each host got when it joined, and the keys of the hub of this member.
 *
 * @module
 */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const former = table("fleet_note_keys", {
  /** Base64url, as `nextKey`, the key that has replaced it. */
  publicKey: text(),
  /** Sealed, as the key for notes. */
  privateKey: text(),
  createdAt: text(),
  nextKey: text(),
  /** Of this key, over the next one. */
  signature: text(),
}, { key: "publicKey", order: "created_at, rowid" });

export type FormerNoteKey = Row<typeof former>;

/** The oldest first. */
export const {
  all: selectFormerNoteKeys,
  find: selectFormerNoteKey,
  insert: insertFormerNoteKey,
} = former;

const ofHosts = table(
  "fleet_host_note_keys",
  { hostId: text(), noteKey: text() },
  { key: "hostId" },
);

export const { find: selectHostNoteKey, replace: replaceHostNoteKey } = ofHosts;

/** The id of the only row. */
const ID = 1;

const known = table("fleet_known_note_keys", { id: number(), keys: json<string[]>() });

/** Keys of the hub besides that at the time of joining, the newest first. */
export const selectKnownNoteKeys = (db: Database): string[] => known.find(db, ID)?.keys ?? [];

export const replaceKnownNoteKeys = (db: Database, keys: readonly string[]): void =>
  known.replace(db, { id: ID, keys: [...keys] });

export const deleteKnownNoteKeys = (db: Database): void => void known.delete(db, ID);

/** The tables `fleet_keys` and `fleet_former_keys`: the keys of this installation in a fleet. @module */

import { type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const columns = {
  /** `link`: X25519, the identity of this installation; `note`: Ed25519, which signs notes. */
  purpose: text<"link" | "note">(),
  /** Base64url. */
  publicKey: text(),
  /** Sealed. */
  privateKey: text(),
  createdAt: text(),
};

const keys = table("fleet_keys", columns, { key: "purpose" });

export type FleetKey = Row<typeof keys>;

export const { find: selectFleetKey, replace: replaceFleetKey } = keys;

/** Stores a key unless another process has stored one meanwhile. */
export function insertFleetKeyIfMissing(db: Database, key: FleetKey): void {
  keys.insertFields(db, key, "ON CONFLICT (purpose) DO NOTHING");
}

/** The key for links before the last rotation. */
const former = table("fleet_former_keys", columns, { key: "purpose" });

export const { find: selectFormerFleetKey, replace: replaceFormerFleetKey } = former;

export function deleteFormerFleetKeys(db: Database): void {
  db.run("DELETE FROM fleet_former_keys");
}

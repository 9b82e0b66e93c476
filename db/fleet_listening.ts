/** The `fleet_listening` table: the token with which a hub may add this host. @module */

import { number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

/** The id of the only row. */
const ID = 1;

const listening = table("fleet_listening", {
  id: number(),
  tokenId: text(),
  /** Sealed. */
  secret: text(),
  /** Name and description of this host for the hub. */
  name: text(),
  machine: text(),
  expiresAt: text(),
});

/** The token as stored. Times are ISO 8601, UTC. */
export type Listening = Omit<Row<typeof listening>, "id">;

export function selectListening(db: Database): Listening | undefined {
  return listening.find(db, ID);
}

/** A token replaces the one before. */
export function replaceListening(db: Database, row: Listening): void {
  listening.replace(db, { ...row, id: ID });
}

/** @returns Whether there was a token. */
export function deleteListening(db: Database): boolean {
  return listening.delete(db, ID);
}

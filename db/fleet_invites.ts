/** The `fleet_invites` table: invites with which hosts join the fleet of this hub. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const invites = table("fleet_invites", {
  id: text(),
  /** Sealed. */
  secret: text(),
  /** Name of the only host that it is for. */
  name: text<string | null>(),
  /** Pattern that the names of hosts must match. */
  pattern: text<string | null>(),
  labels: json<Record<string, string>>(),
  /** Address of this hub, as members dial it. */
  address: text(),
  usesMax: number(),
  uses: number(),
  acceptsAtOnce: boolean(),
  /** Id of the user. */
  createdBy: text(),
  createdAt: text(),
  expiresAt: text(),
  /** Key of this hub that the token names, base64url. */
  hubKey: text(),
}, { order: "created_at DESC, id" });

/** One invite as stored. Times are ISO 8601, UTC. */
export type StoredInvite = Row<typeof invites>;

export const {
  find: selectFleetInvite,
  all: selectFleetInvites,
  insert: insertFleetInvite,
  update: updateFleetInvite,
  delete: deleteFleetInvite,
  count: countFleetInvites,
} = invites;

/** @returns Whether the invite could be used once more. */
export function useFleetInvite(db: Database, id: string, at: string): boolean {
  return db.run(
    `UPDATE fleet_invites SET uses = uses + 1
     WHERE id = :id AND uses < uses_max AND expires_at > :at`,
    { id, at },
  ) > 0;
}

export function deleteFleetInvitesBefore(db: Database, expiresAt: string): void {
  db.run("DELETE FROM fleet_invites WHERE expires_at < :expiresAt", { expiresAt });
}

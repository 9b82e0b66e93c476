/** The `fleet_membership` table: the hub of this installation. @module */

import { boolean, json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";
import { deleteBlocksOfHub } from "./fleet_blocks.ts";
import { deleteEndedMembership } from "./fleet_ended_membership.ts";
import { deleteKnownHubKeys } from "./fleet_hub_keys.ts";
import { deleteHubLinkState } from "./fleet_hub_link.ts";
import { deleteFormerFleetKeys } from "./fleet_keys.ts";
import { deleteNextKeys } from "./fleet_next_keys.ts";
import { deleteKnownNoteKeys } from "./fleet_note_keys.ts";
import { deleteListening } from "./fleet_listening.ts";

/** The id of the only row. */
const ID = 1;

const memberships = table("fleet_membership", {
  id: number(),
  /** Of the hub: `https://…` or `http://…`; empty if the hub dials. */
  address: text(),
  /** X25519 and Ed25519, base64url. */
  hubKey: text(),
  hubNoteKey: text(),
  hubName: text(),
  /** Id that the hub has given to this host. */
  hostId: text(),
  /** Name of this host at the hub. */
  name: text(),
  /** Whether an admin of the hub has to accept this host first. */
  isPending: boolean(),
  /** Number and proof of the last challenge. */
  challenge: number<number | null>(),
  challengeProof: text<string | null>(),
  joinedAt: text(),
  /** Whether the hub has said that it takes events. */
  hubTakesEvents: boolean(),
  /** Whether the hub has said that members ask it before automatic updates. */
  asksHub: boolean(),
  /** Labels of this host at the hub. */
  labels: json<Record<string, string>>(),
});

/** The membership as stored. Times are ISO 8601, UTC. */
export type Membership = Omit<Row<typeof memberships>, "id">;

export function selectMembership(db: Database): Membership | undefined {
  return memberships.find(db, ID);
}

/** Stores the membership. A token with which this host waits for a hub ends. */
export function replaceMembership(db: Database, membership: Membership): void {
  deleteListening(db);
  deleteEndedMembership(db);
  forgetHub(db);
  memberships.replace(db, { ...membership, id: ID });
}

/** @returns Whether there is a membership of this host id. */
export function updateMembership(
  db: Database,
  hostId: string,
  changes: Partial<Membership>,
): boolean {
  const isSame = selectMembership(db)?.hostId === hostId;
  return isSame && memberships.update(db, ID, changes);
}

/** Forgets the hub and what was agreed with it. @returns Whether there was a membership. */
export function deleteMembership(db: Database): boolean {
  forgetHub(db);
  return memberships.delete(db, ID);
}

/** Another hub knows none but the own keys. */
function forgetHub(db: Database): void {
  deleteBlocksOfHub(db);
  deleteNextKeys(db);
  deleteKnownHubKeys(db);
  deleteKnownNoteKeys(db);
  deleteFormerFleetKeys(db);
  deleteHubLinkState(db);
}

/**
 * Rights in a fleet that have ended since a backup was made, and must not come back with it: used and
 * deleted invites, removed hosts, requests that were taken back or have run, and a membership that was left
 * or that the hub has ended. The data that a restore replaces says which.
 *
 * @module
 */

import type { Database } from "../../../db/database.ts";
import {
  insertFleetBox,
  selectFleetBoxes,
  type StoredBox,
  updateFleetBox,
} from "../../../db/fleet_boxes.ts";
import {
  deleteEndedMembership,
  selectEndedMembership,
  upsertEndedMembership,
} from "../../../db/fleet_ended_membership.ts";
import { selectFleetHosts, updateFleetHost } from "../../../db/fleet_hosts.ts";
import {
  deleteFleetInvite,
  selectFleetInvites,
  updateFleetInvite,
} from "../../../db/fleet_invites.ts";
import { replaceFormerFleetKey, selectFleetKey } from "../../../db/fleet_keys.ts";
import { selectJob } from "../../../db/jobs.ts";
import { deleteListening, selectListening } from "../../../db/fleet_listening.ts";
import {
  deleteMembership,
  selectMembership,
  updateMembership,
} from "../../../db/fleet_membership.ts";
import {
  deleteFleetPending,
  selectAllFleetPending,
  selectOpenFleetPending,
} from "../../../db/fleet_pending.ts";
import { storedServerId } from "../../events/server_identity.ts";

/** State of the fleet in the data that is replaced. */
export type FleetBefore = ReturnType<typeof readFleet>;

/** @throws {Error} For a database of another version. */
export const readFleet = (db: Database) => ({
  serverId: storedServerId(db),
  key: selectFleetKey(db, "link"),
  invites: new Map(
    selectFleetInvites(db).map(({ id, uses, acceptsAtOnce }) => [id, { uses, acceptsAtOnce }]),
  ),
  hosts: new Map(selectFleetHosts(db).map((host) => [host.id, host])),
  boxes: selectFleetBoxes(db),
  pending: new Set(selectAllFleetPending(db).map(({ id }) => id)),
  membership: selectMembership(db),
  endedMembership: selectEndedMembership(db),
  tokenId: selectListening(db)?.tokenId,
});

/** Rights that a restore has ended and that people may want back. */
export interface EndedRights {
  /** Names of hosts that were removed, which wait for an admin now. */
  removed: string[];
  /** Names of hosts that have joined since, which the restored data does not have. */
  forgotten: string[];
  /** Name of the hub that was left, and of one that has ended the membership. */
  left: string | undefined;
  endedBy: string | undefined;
  /** Number of requests for hosts that were taken back. */
  takenBack: number;
}

/**
 * Ends such rights in a restored database. Secrets for one use that nothing proves to be unused always end;
 * hosts, requests and the membership stay as they were where the data that is replaced is not of this
 * installation, e.g. on a new machine.
 *
 * @param before `undefined` if it cannot be read.
 */
export function endFormerRights(db: Database, before: FleetBefore | undefined): EndedRights {
  for (const { id } of selectFleetInvites(db)) {
    const invite = before?.invites.get(id);
    if (invite) updateFleetInvite(db, id, invite);
    else deleteFleetInvite(db, id);
  }
  if (selectListening(db)?.tokenId !== before?.tokenId) deleteListening(db);
  const ended: EndedRights = {
    ...{ removed: [], forgotten: [], takenBack: 0 },
    ...{ left: undefined, endedBy: undefined },
  };
  const serverId = storedServerId(db);
  if (!before || serverId === undefined || serverId !== before.serverId) return ended;
  for (const { id } of selectOpenFleetPending(db)) {
    if (before.pending.has(id)) continue;
    deleteFleetPending(db, id);
    ended.takenBack++;
  }
  const { hostId, hubName } = selectMembership(db) ?? {};
  if (hostId !== undefined && hostId === before.membership?.hostId) keepProof(db, hostId, before);
  else if (hostId !== undefined) {
    ended[before.endedMembership?.hub === hubName ? "endedBy" : "left"] = hubName;
    deleteMembership(db);
  }
  if (before.endedMembership) upsertEndedMembership(db, before.endedMembership);
  else deleteEndedMembership(db);
  for (const box of before.boxes) keepBox(db, box);
  for (const { id, name, leftAt, isPending, ...known } of selectFleetHosts(db)) {
    const host = before.hosts.get(id);
    if (!host && leftAt === null) ended.removed.push(name);
    // The number of an older proof would let a copy of the machine in, and a host has forgotten older keys.
    const { challenge, linkKey, noteKey } = host ?? known;
    updateFleetHost(db, id, {
      ...{ challenge, linkKey, noteKey },
      isPending: isPending || (host?.isPending ?? true),
      leftAt: leftAt ?? host?.leftAt ?? null,
    });
  }
  const restored = new Set(selectFleetHosts(db).map(({ id }) => id));
  for (const { id, name, leftAt } of before.hosts.values()) {
    if (!restored.has(id) && leftAt === null) ended.forgotten.push(name);
  }
  return ended;
}

/** Keeps what the hub knows this host by. An older proof would be taken for that of a copy of this machine. */
function keepProof(db: Database, hostId: string, { key, membership }: FleetBefore): void {
  const { challenge, challengeProof } = membership!;
  updateMembership(db, hostId, { challenge, challengeProof });
  // The hub has forgotten the restored key if it has learned a newer one.
  if (key && key.publicKey !== selectFleetKey(db, "link")?.publicKey) {
    replaceFormerFleetKey(db, key);
  }
}

/** Keeps a box that was received, so that it runs once. Its job may not be in the restored data. */
function keepBox(db: Database, box: StoredBox): void {
  const isLost = box.state === "begun" || (box.state === "job" && !selectJob(db, box.jobId!));
  const kept: StoredBox = isLost
    ? { ...box, state: "done", error: "It was run before this server was restored from a backup" }
    : box;
  if (!insertFleetBox(db, kept)) updateFleetBox(db, box.id, kept);
}

/**
 * Rights in a fleet that have ended since a backup was made, and must not come back with it: used and
 * deleted invites, removed hosts, requests that were taken back or have run, and a membership that was left.
 * The data that a restore replaces says which.
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
import { selectFleetHosts, updateFleetHost } from "../../../db/fleet_hosts.ts";
import { selectFormerHubKeys } from "../../../db/fleet_hub_keys.ts";
import {
  deleteFleetInvite,
  selectFleetInvites,
  updateFleetInvite,
} from "../../../db/fleet_invites.ts";
import { selectFleetKey, selectFormerFleetKey } from "../../../db/fleet_keys.ts";
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

/** State of the fleet in the data that is replaced. */
export type FleetBefore = ReturnType<typeof readFleet>;

/** @throws {Error} For a database of another version. */
export const readFleet = (db: Database) => ({
  keys: [
    selectFleetKey(db, "link"),
    selectFormerFleetKey(db, "link"),
    ...selectFormerHubKeys(db),
  ].flatMap((key) => key?.publicKey ?? []),
  invites: new Map(
    selectFleetInvites(db).map(({ id, uses, acceptsAtOnce }) => [id, { uses, acceptsAtOnce }]),
  ),
  hosts: new Map(
    selectFleetHosts(db).map(({ id, challenge, isPending, leftAt }) => [
      id,
      { challenge, isPending, leftAt },
    ]),
  ),
  boxes: selectFleetBoxes(db),
  pending: new Set(selectAllFleetPending(db).map(({ id }) => id)),
  membership: selectMembership(db),
  tokenId: selectListening(db)?.tokenId,
});

/**
 * Ends such rights in a restored database. Secrets for one use that nothing proves to be unused always end;
 * hosts, requests and the membership stay as they were where the data that is replaced is not of this
 * installation, e.g. on a new machine.
 *
 * @param before `undefined` if it cannot be read.
 * @returns Names of the hosts that were removed, which wait for an admin now.
 */
export function endFormerRights(db: Database, before: FleetBefore | undefined): string[] {
  for (const { id } of selectFleetInvites(db)) {
    const invite = before?.invites.get(id);
    if (invite) updateFleetInvite(db, id, invite);
    else deleteFleetInvite(db, id);
  }
  if (selectListening(db)?.tokenId !== before?.tokenId) deleteListening(db);
  const key = selectFleetKey(db, "link")?.publicKey;
  if (key === undefined || !before?.keys.includes(key)) return [];
  for (const { id } of selectOpenFleetPending(db)) {
    if (!before.pending.has(id)) deleteFleetPending(db, id);
  }
  const hostId = selectMembership(db)?.hostId;
  if (hostId !== undefined && hostId === before.membership?.hostId) {
    // An older proof would be taken for that of a copy of this machine.
    const { challenge, challengeProof } = before.membership;
    updateMembership(db, hostId, { challenge, challengeProof });
  } else if (hostId !== undefined) deleteMembership(db);
  for (const box of before.boxes) keepBox(db, box);
  const removed: string[] = [];
  for (const { id, name, challenge, isPending, leftAt } of selectFleetHosts(db)) {
    const host = before.hosts.get(id);
    if (!host) removed.push(name);
    updateFleetHost(db, id, {
      // The number of an older proof would let a copy of the machine in.
      challenge: host?.challenge ?? challenge,
      isPending: isPending || (host?.isPending ?? true),
      leftAt: leftAt ?? host?.leftAt ?? null,
    });
  }
  return removed;
}

/** Keeps a box that was received, so that it runs once. The end of its job may not be in the restored data. */
function keepBox(db: Database, box: StoredBox): void {
  const kept: StoredBox = box.state === "job" && !selectJob(db, box.jobId!)?.endedAt
    ? { ...box, state: "done", error: "It was run before this server was restored from a backup" }
    : box;
  if (!insertFleetBox(db, kept)) updateFleetBox(db, box.id, kept);
}

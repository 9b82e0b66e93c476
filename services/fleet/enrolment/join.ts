/** Joining the fleet of a hub with a token, and leaving it. @module */

import { deleteEndedMembership } from "../../../db/fleet_ended_membership.ts";
import { deleteListening } from "../../../db/fleet_listening.ts";
import {
  deleteMembership,
  type Membership,
  replaceMembership,
  selectMembership,
} from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { VERSION } from "../../version.ts";
import { dialEnrolment, type InviteSecret, withinHandshake } from "../link/channel.ts";
import { HOST_NAME } from "../link/control.ts";
import type { Connection } from "../link/connection.ts";
import type { Bytes } from "../link/noise.ts";
import { describeRefusal, dial } from "../link/dial.ts";
import { knownHubKeys } from "./hub_keys.ts";
import { fingerprintOf, type KeyDeps, linkKeys, noteKeys, toBytes, toText } from "./keys.ts";
import type { FleetToken } from "./token.ts";

type JoinDeps = KeyDeps & Pick<Deps, "config">;

/** Reason with which a host that has joined ends the connection. */
export const JOINED = "done";

/** Reason with which a member ends a connection without having joined. */
export const NOT_JOINED = "the host has not joined";

/** Description of this host for the admins of the hub. */
export interface JoinAs {
  /** Name in the fleet; an invite may say another. */
  name: string;
  /** E.g. `edge-7, Debian GNU/Linux 12, x86_64`. */
  machine: string;
}

/**
 * Joins the fleet of the hub that has made the token.
 *
 * @throws {AppError} `conflict` if this installation is in a fleet; `invalid` for a name; `forbidden`
 * with the reason of the hub.
 * @throws {DialError} If the hub cannot be reached.
 */
export async function joinFleet(
  deps: JoinDeps,
  token: FleetToken,
  { name, machine }: JoinAs,
  signal: AbortSignal,
): Promise<Membership> {
  assertNoMember(deps);
  assertHostName(name);
  await linkKeys(deps);
  const connection = await dial(deps, token.address, signal);
  try {
    return await enrol(deps, connection, { name, machine, ...hubOf(token) });
  } catch (error) {
    throw describeRefusal(error, "hub");
  }
}

/** The hub of a token, as {@linkcode enrol} takes it. */
const hubOf = (token: FleetToken) => ({
  address: token.address,
  invite: { id: token.inviteId, secret: token.secret },
  async assertHub(key: Bytes) {
    if (await fingerprintOf(key) === token.fingerprint) return;
    throw new AppError("forbidden", `${token.address} is not the hub that made the token`);
  },
});

/** The membership of this host, if the token is one of its hub. */
export async function membershipOf(
  deps: Pick<Deps, "db">,
  { fingerprint }: FleetToken,
): Promise<Membership | undefined> {
  const membership = selectMembership(deps.db);
  if (!membership) return undefined;
  const keys = knownHubKeys(deps, membership);
  const known = await Promise.all(keys.map((key) => fingerprintOf(toBytes(key))));
  return known.includes(fingerprint) ? membership : undefined;
}

/**
 * Asks the hub of the token whether this host is still in its fleet: the hub may have removed it while it
 * was away.
 *
 * @throws {AppError} `conflict` with the reason, unless the hub confirms it.
 */
export async function assertStillMember(
  deps: JoinDeps,
  token: FleetToken,
  { hubName, hostId, name }: Membership,
  { machine, signal }: Pick<JoinAs, "machine"> & { signal: AbortSignal },
): Promise<void> {
  let reason = "it knows this host by another id";
  try {
    const connection = await dial(deps, token.address, signal);
    const as = { name, machine, ...hubOf(token), memberId: hostId };
    const asked = requestMembership(deps, connection, as);
    if ((await asked.finally(() => connection.close(JOINED))).hostId === hostId) return;
  } catch (error) {
    reason = (error as Error).message;
  }
  throw new AppError(
    "conflict",
    `This host has joined the fleet of ${hubName}, which does not confirm it: ${reason}; ` +
      "to join again, run `longshore fleet leave`, then this command again",
  );
}

/**
 * Joins the fleet of the hub at the other end of a connection, and closes the connection.
 *
 * @param how.address Of the hub; empty if the hub dials.
 * @param how.assertHub Refuses a hub by its key. By default, the hub that knows the secret counts.
 * @throws {AppError} `forbidden` with the reason of the hub.
 */
export async function enrol(
  deps: KeyDeps,
  connection: Connection,
  how: EnrolAs,
): Promise<Membership> {
  try {
    const membership = await requestMembership(deps, connection, how);
    // Another hub may have been quicker meanwhile.
    assertNoMember(deps);
    replaceMembership(deps.db, membership);
    connection.close(JOINED);
    return membership;
  } finally {
    connection.close(NOT_JOINED);
  }
}

type EnrolAs = JoinAs & {
  address: string;
  invite: InviteSecret;
  assertHub?: (key: Bytes) => Promise<void>;
};

/** @param as.memberId Id of this host if it is a member, and only asks. */
async function requestMembership(
  deps: KeyDeps,
  connection: Connection,
  { name, machine, address, invite, assertHub = () => Promise.resolve(), memberId }:
    & EnrolAs
    & { memberId?: string },
): Promise<Membership> {
  const [keys, notes] = [await linkKeys(deps), await noteKeys(deps)];
  const channel = await withinHandshake(
    connection,
    () => dialEnrolment(connection, { keys, invite, assertHub }),
  );
  await channel.sendControl({
    type: "enrol",
    name,
    machine,
    version: VERSION,
    noteKey: notes.publicKey,
    memberId,
  });
  const answer = await withinHandshake(
    connection,
    () => channel.receiveControl("enrolled", "refused"),
  );
  if (answer.type === "refused") throw new AppError("forbidden", answer.reason);
  return {
    address,
    hubKey: toText(channel.peerKey),
    hubNoteKey: answer.noteKey,
    hubName: answer.hubName,
    hostId: answer.hostId,
    name: answer.name,
    isPending: answer.isPending,
    ...firstState(deps),
  };
}

/** Fields of a new membership that the answer of the hub does not have. */
export const firstState = ({ now }: Pick<Deps, "now">) => ({
  challenge: null,
  challengeProof: null,
  joinedAt: now().toISOString(),
  hubTakesEvents: false,
  asksHub: false,
  labels: {},
});

/**
 * Leaves the fleet. A running member tells its hub; without one, the hub shows the host as away.
 *
 * @returns The membership that has ended; `undefined` if this host has waited for a hub only, or its hub
 * had ended the membership, which it forgets.
 * @throws {AppError} `conflict` if this installation is not in a fleet, and waits for none.
 */
export function leaveFleet({ db }: Pick<Deps, "db">): Membership | undefined {
  const membership = selectMembership(db);
  const hadOther = [deleteListening(db), deleteEndedMembership(db)].includes(true);
  if (!membership && hadOther) return undefined;
  if (!membership) throw new AppError("conflict", "This host is not in a fleet");
  deleteMembership(db);
  return membership;
}

/** @throws {AppError} `invalid` */
export function assertHostName(name: string): void {
  if (HOST_NAME.test(name)) return;
  throw new AppError("invalid", `${name} cannot be the name of a host; use --name`);
}

/** @throws {AppError} `conflict` if this installation is in a fleet. */
export function assertNoMember({ db }: Pick<Deps, "db">): void {
  const membership = selectMembership(db);
  if (!membership) return;
  throw new AppError(
    "conflict",
    `This host is in the fleet of ${membership.hubName}; leave it with \`longshore fleet leave\` first`,
  );
}

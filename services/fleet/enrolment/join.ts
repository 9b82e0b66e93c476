/** Joining the fleet of a hub with a token, and leaving it. @module */

import {
  deleteMembership,
  type Membership,
  replaceMembership,
  selectMembership,
} from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { VERSION } from "../../version.ts";
import { dialEnrolment, withinHandshake } from "../link/channel.ts";
import { HOST_NAME } from "../link/control.ts";
import { dial } from "../link/dial.ts";
import { fingerprintOf, type KeyDeps, linkKeys, noteKeys, toText } from "./keys.ts";
import type { JoinToken } from "./token.ts";

type JoinDeps = KeyDeps & Pick<Deps, "config">;

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
  token: JoinToken,
  { name, machine }: JoinAs,
  signal: AbortSignal,
): Promise<Membership> {
  const { db, now } = deps;
  assertNoMember(deps);
  assertHostName(name);
  const [keys, notes] = [await linkKeys(deps), await noteKeys(deps)];
  const connection = await dial(deps, token.address, signal);
  try {
    const channel = await withinHandshake(connection, () =>
      dialEnrolment(connection, {
        keys,
        invite: { id: token.inviteId, secret: token.secret },
        assertHub: async (key) => {
          if (await fingerprintOf(key) === token.hubFingerprint) return;
          throw new AppError("forbidden", `${token.address} is not the hub that made the token`);
        },
      }));
    await channel.sendControl({
      type: "enrol",
      name,
      machine,
      version: VERSION,
      noteKey: notes.publicKey,
    });
    const answer = await withinHandshake(
      connection,
      () => channel.receiveControl("enrolled", "refused"),
    );
    if (answer.type === "refused") throw new AppError("forbidden", answer.reason);
    const membership: Membership = {
      address: token.address,
      hubKey: toText(channel.peerKey),
      hubNoteKey: answer.noteKey,
      hubName: answer.hubName,
      hostId: answer.hostId,
      name: answer.name,
      isPending: answer.isPending,
      challenge: null,
      challengeProof: null,
      joinedAt: now().toISOString(),
      hubTakesEvents: false,
      asksHub: false,
      labels: {},
    };
    replaceMembership(db, membership);
    return membership;
  } finally {
    connection.close("done");
  }
}

/**
 * Leaves the fleet. A running member tells its hub; without one, the hub shows the host as away.
 *
 * @returns The membership that has ended.
 * @throws {AppError} `conflict` if this installation is not in a fleet.
 */
export function leaveFleet({ db }: Pick<Deps, "db">): Membership {
  const membership = selectMembership(db);
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

/**
 * Joining without a network between hub and host: a request of the host and the answer of the hub, both
 * carried by hand. Neither is secret, and each is for one key.
 *
 * @module
 */

import * as z from "zod";
import { selectFleetHostByKey, updateFleetHost } from "../../../db/fleet_hosts.ts";
import { type Membership, replaceMembership } from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { VERSION } from "../../version.ts";
import { ownHubKeys, renewHubKeyFor } from "../hosts/hub_keys.ts";
import { noteKeyFor } from "../hosts/note_keys.ts";
import { makeHost, storeHost } from "../hosts/room.ts";
import { HOST_NAME, NAME_MAX, shownText, Version } from "../link/control.ts";
import { type Bytes, createHandshake, HandshakeError, IK, type KeyPair } from "../link/noise.ts";
import { assertHostName, assertNoMember, firstState, type JoinAs } from "./join.ts";
import { type KeyDeps, linkKeys, noteKeys, toBytes, toText } from "./keys.ts";
import { isHubAddress } from "./token.ts";

/** Limit of a file, in bytes. */
export const FILE_BYTES_MAX = 4_096;

const Key = z.base64url().length(43);
const HostName = z.string().regex(HOST_NAME);

const Request = z.object({
  longshoreJoinRequest: z.literal(1),
  name: HostName,
  machine: shownText(200),
  version: Version,
  linkKey: Key,
  noteKey: Key,
});

const Answer = z.object({
  longshoreJoinAnswer: z.literal(1),
  /** The key of the host that it is for. */
  linkKey: Key,
  address: z.string().refine(isHubAddress),
  hubName: shownText(NAME_MAX).pipe(z.string().min(1)),
  hubKey: Key,
  hubNoteKey: Key,
  hostId: z.string().max(100),
  name: HostName,
  /**
   * Proof that the hub has said all of this: people compare the fingerprint of its key only. Hubs of earlier
   * versions give none.
   */
  proof: z.base64url().max(200).optional(),
});

/** Separates proofs from the messages of links. */
const DOMAIN = "longshore join answer v1\n";

export type JoinRequest = z.output<typeof Request>;
export type JoinAnswer = z.output<typeof Answer> & { proof: string };

/** @throws {AppError} `invalid`; the message does not quote the text. */
export const parseRequest = (text: string): JoinRequest => parse(Request, text, "a join request");

/** @throws {AppError} `invalid`, also without a proof; the message does not quote the text. */
export function parseAnswer(text: string): JoinAnswer {
  const { proof, ...answer } = parse(Answer, text, "an answer");
  if (proof !== undefined) return { ...answer, proof };
  throw new AppError(
    "invalid",
    "The hub has an earlier version and cannot prove its answer; update the hub, or join with a token",
  );
}

/**
 * The request of this host.
 *
 * @throws {AppError} `conflict` if it is in a fleet; `invalid` for a name.
 */
export async function createRequest(
  deps: KeyDeps,
  { name, machine }: JoinAs,
): Promise<JoinRequest> {
  assertNoMember(deps);
  assertHostName(name);
  return {
    longshoreJoinRequest: 1,
    name,
    machine,
    version: VERSION,
    linkKey: toText((await linkKeys(deps)).publicKey),
    noteKey: (await noteKeys(deps)).publicKey,
  };
}

/**
 * Adds the host of a request to the fleet of this hub; it needs no admin who accepts it. The same
 * request gets the same answer.
 *
 * @throws {AppError} `conflict` for a name in use, a host that has left, and beyond the limit of hosts.
 */
export async function answerRequest(
  deps: KeyDeps & Pick<Deps, "config" | "fleet">,
  request: JoinRequest,
  { address, labels }: { address: string; labels: Record<string, string> },
): Promise<JoinAnswer> {
  const { db, config, fleet } = deps;
  await noteKeys(deps);
  let hubKey = toText((await linkKeys(deps)).publicKey);
  const { name, machine, version, linkKey, noteKey } = request;
  let host = selectFleetHostByKey(db, linkKey);
  if (host && host.leftAt !== null) {
    throw new AppError("conflict", `Host ${host.name} has left the fleet; remove it first`);
  }
  if (host) {
    hubKey = await renewHubKeyFor(deps, host.id);
    // It dials from now on.
    updateFleetHost(db, host.id, { isPending: false, dialAddress: null });
    fleet.refresh();
  } else {
    host = makeHost(deps, undefined, {
      ...{ name, machine, version, linkKey, noteKey, labels },
      ...{ address: "", inviteId: null },
    });
    storeHost(deps, undefined, host, hubKey);
    fleet.refresh();
  }
  const answer = {
    longshoreJoinAnswer: 1 as const,
    linkKey,
    address,
    hubName: config.serverName.slice(0, NAME_MAX),
    hubKey,
    hubNoteKey: await noteKeyFor(deps, host.id),
    hostId: host.id,
    name: host.name,
  };
  const handshake = createHandshake(IK, {
    isInitiator: true,
    prologue: prologueOf(answer),
    keys: await ownHubKeys(deps, hubKey),
    peerKey: toBytes(linkKey),
  });
  return { ...answer, proof: toText(await handshake.write()) };
}

/**
 * Joins the fleet of the hub that has answered the request of this host.
 *
 * @throws {AppError} `conflict` if this host is in a fleet; `invalid` for the answer to another one.
 */
export async function acceptAnswer(deps: KeyDeps, answer: JoinAnswer): Promise<Membership> {
  assertNoMember(deps);
  const keys = await linkKeys(deps);
  if (answer.linkKey !== toText(keys.publicKey)) {
    throw new AppError("invalid", "The answer is for another host, or its keys were made again");
  }
  await assertProved(answer, keys);
  const { address, hubKey, hubNoteKey, hubName, hostId, name } = answer;
  const membership: Membership = {
    address,
    hubKey,
    hubNoteKey,
    hubName,
    hostId,
    name,
    isPending: false,
    ...firstState(deps),
  };
  replaceMembership(deps.db, membership);
  return membership;
}

/** The private key of the hub is needed to begin a handshake with this prologue in its name. */
async function assertProved(answer: JoinAnswer, keys: KeyPair): Promise<void> {
  const prologue = prologueOf(answer);
  const handshake = createHandshake(IK, { isInitiator: false, prologue, keys });
  try {
    await handshake.read(toBytes(answer.proof));
    if (toText(handshake.peerKey!) === answer.hubKey) return;
  } catch (error) {
    if (!(error instanceof HandshakeError)) throw error;
  }
  throw new AppError("invalid", "The answer was changed after the hub has written it");
}

function prologueOf(answer: Omit<JoinAnswer, "proof">): Bytes {
  const { linkKey, address, hubName, hubKey, hubNoteKey, hostId, name } = answer;
  const said = [linkKey, address, hubName, hubKey, hubNoteKey, hostId, name];
  return new TextEncoder().encode(DOMAIN + JSON.stringify(said));
}

function parse<Shape extends z.ZodType>(shape: Shape, text: string, what: string): z.output<Shape> {
  try {
    return shape.parse(JSON.parse(text));
  } catch (cause) {
    throw new AppError("invalid", `The file is not ${what} of this version`, { cause });
  }
}

/** A host that its hub dials: the token for the first contact, and the connections that come in. @module */

import { deleteListening, type Listening, replaceListening } from "../../../db/fleet_listening.ts";
import { randomText } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { openOrConflict } from "../../secrets/secrets.ts";
import { reasonOf } from "../link/channel.ts";
import type { Connection } from "../link/connection.ts";
import { hubAddress, MINUTES } from "./invites.ts";
import { assertHostName, assertNoMember, enrol, type JoinAs } from "./join.ts";
import { fingerprintOf, type KeyDeps, linkKeys, toBytes } from "./keys.ts";
import { beginHubLink, reportMembership } from "./membership.ts";
import { type Dialing, linkToHub, type MemberDeps } from "./member.ts";
import { encodeToken, INVITE_ID_BYTES, SECRET_BYTES } from "./token.ts";

/** A new token for the hub. */
export interface ListenToken {
  token: string;
  /** ISO 8601, UTC. */
  expiresAt: string;
}

/**
 * Lets a hub add this host. A new token replaces the one before.
 *
 * @param how.address Of this host, as the hub can reach it; default: `SERVICE_BASE_URL`.
 * @throws {AppError} `conflict` if this host is in a fleet; `invalid` for a name or an address.
 */
export async function listenForHub(
  deps: KeyDeps & Pick<Deps, "config">,
  { name, machine, address: given }: JoinAs & { address: string | undefined },
): Promise<ListenToken> {
  const { db, secrets, now } = deps;
  assertNoMember(deps);
  assertHostName(name);
  const address = hubAddress(deps, given);
  const { publicKey } = await linkKeys(deps);
  const tokenId = randomText(INVITE_ID_BYTES);
  const secret = randomText(SECRET_BYTES);
  const expiresAt = new Date(now().getTime() + MINUTES.default * 60_000).toISOString();
  replaceListening(db, {
    ...{ tokenId, name, machine, expiresAt },
    secret: secrets.seal(secret, sealPurpose(tokenId)),
  });
  const token = encodeToken({
    inviteId: tokenId,
    fingerprint: await fingerprintOf(publicKey),
    secret: toBytes(secret),
    address,
  }, "add");
  return { token, expiresAt };
}

/** Whether a hub may dial this host now. A token that has expired ends. */
export function acceptsHub({ db, fleet, now }: Pick<Deps, "db" | "fleet" | "now">): boolean {
  const { membership, listening, isListening } = fleet;
  if (!isListening || membership) return isListening;
  if (listening!.expiresAt > now().toISOString()) return true;
  deleteListening(db);
  fleet.refresh();
  return false;
}

/** Takes connections of the hub until `signal` aborts, or this host waits for none any more. */
export async function keepListening(
  deps: MemberDeps & Pick<Deps, "anonymousLog">,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const { fleet, anonymousLog } = deps;
  const dialing: Dialing = { unknown: 0, unproved: 0 };
  beginHubLink(deps);
  fleet.hub.accept = async (connection, address) => {
    try {
      await accept(deps, { connection, dialing }, signal);
      if (fleet.hub.link) fleet.hub.address = address;
    } catch (error) {
      anonymousLog.warn("fleet connection refused", { address, reason: reasonOf(error) });
      connection.close(reasonOf(error));
    }
  };
  while (!signal.aborted && fleet.isListening) {
    round();
    await fleet.changed(signal);
  }
  fleet.hub.accept = undefined;
  reportMembership(deps);
}

/** Resolves when the hub has a link, or has added this host. */
async function accept(
  deps: MemberDeps,
  { connection, dialing }: { connection: Connection; dialing: Dialing },
  signal: AbortSignal,
): Promise<void> {
  const { membership, listening } = deps.fleet;
  if (!membership) return await join(deps, connection, listening!);
  const opened = Promise.withResolvers<void>();
  const onOpen = opened.resolve;
  const ended = linkToHub(deps, membership, { connection, dialing, onOpen }, signal);
  await Promise.race([opened.promise, ended]);
  ended.catch((error) => deps.log.warn("link to the hub failed", errorFields(error)));
}

async function join(
  deps: MemberDeps,
  connection: Connection,
  { tokenId, secret, name, machine }: Listening,
): Promise<void> {
  const { secrets, log, fleet } = deps;
  const opened = openOrConflict(
    () => secrets.open(secret, sealPurpose(tokenId)),
    "run `longshore join --listen` again",
  );
  const invite = { id: tokenId, secret: toBytes(opened) };
  const joined = await enrol(deps, connection, { name, machine, address: "", invite });
  const fingerprint = await fingerprintOf(toBytes(joined.hubKey));
  log.info("joined the fleet of a hub", { hub: joined.hubName, fingerprint });
  fleet.refresh();
}

const sealPurpose = (id: string) => `fleet token ${id}`;

/** Adding a host that waits for its hub, with the token that it has printed. @module */

import { deleteFleetHost, selectFleetHostByKey, type StoredHost } from "../../../db/fleet_hosts.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { fingerprintOf, type KeyDeps, linkKeys, toText } from "../enrolment/keys.ts";
import { JOINED, NOT_JOINED } from "../enrolment/join.ts";
import { decodeToken, type FleetToken } from "../enrolment/token.ts";
import { admit, type Channel, withinHandshake } from "../link/channel.ts";
import type { Connection } from "../link/connection.ts";
import { describeRefusal, dial } from "../link/dial.ts";
import { hubKeyFor } from "./hub_keys.ts";
import { getHost, HOSTS_RESOURCE, type HostView } from "./hosts.ts";
import { makeHost, storeHost } from "./room.ts";
import { refuse, sendEnrolled } from "./serve.ts";
import type { HostViewer } from "./visible.ts";

type AddDeps = KeyDeps & Pick<Deps, "changes" | "config" | "fleet">;

/** How a host is added. */
interface AddAs {
  /** Address of the host, as this hub dials it. */
  address: string;
  /** Default: what the host says. */
  name?: string | undefined;
  labels: Record<string, string>;
}

/**
 * Adds the host that has made a token, as the API gives it.
 *
 * @param given.address Default: that in the token.
 * @throws {AppError} As `addHost()`; `invalid` for a damaged token.
 */
export async function addByToken(
  deps: AddDeps,
  { token: text, address, ...given }:
    & Omit<AddAs, "address">
    & { token: string; address?: string | undefined },
  { viewer, signal }: { viewer: HostViewer; signal: AbortSignal },
): Promise<HostView> {
  const token = decodeToken(text, "add");
  const host = await addHost(
    deps,
    token,
    { ...given, address: address ?? token.address },
    signal,
  );
  return await getHost(deps, viewer, host.id);
}

/**
 * Adds the host that has made the token: it proves its key, and both prove that they know the secret.
 * The same hub may repeat it, because the host may not have got the answer.
 *
 * @throws {AppError} `invalid` for an address that this hub may not dial; `forbidden` if the host is
 * another one or does not take the token; `conflict` for a name in use; `bad_gateway` if it cannot be
 * reached.
 */
export async function addHost(
  deps: AddDeps,
  token: FleetToken,
  given: AddAs,
  signal: AbortSignal,
): Promise<StoredHost> {
  const { publicKey } = await linkKeys(deps);
  if (await fingerprintOf(publicKey) === token.fingerprint) {
    throw new AppError("invalid", "TOKEN is the token of this server itself: use it on the hub");
  }
  const connection = await dial(deps, given.address, signal, "host");
  try {
    return await withinHandshake(connection, async () => {
      const admitted = await admitHost(deps, connection, token, given.address);
      return await enrol(deps, admitted, token, given);
    });
  } catch (error) {
    throw describeRefusal(error, "host");
  }
}

/** A host that knows this hub by `hubKey`, base64url. */
interface AdmittedHost {
  channel: Channel;
  hubKey: string;
}

async function admitHost(
  deps: AddDeps,
  connection: Connection,
  { inviteId, secret, fingerprint }: FleetToken,
  address: string,
): Promise<AdmittedHost> {
  const keys = await linkKeys(deps);
  const admitted = await admit(connection, {
    keys,
    findInvite: (id) => id === inviteId ? secret : undefined,
  });
  if (admitted.inviteId === undefined) {
    throw new AppError("conflict", `${address} is in the fleet of this server already`);
  }
  if (await fingerprintOf(admitted.channel.peerKey) !== fingerprint) {
    throw new AppError("forbidden", `${address} is not the host that made the token`);
  }
  return { channel: admitted.channel, hubKey: toText(keys.publicKey) };
}

async function enrol(
  deps: AddDeps,
  { channel, hubKey }: AdmittedHost,
  { inviteId }: FleetToken,
  { address, name, labels }: AddAs,
): Promise<StoredHost> {
  const { db, fleet, changes } = deps;
  const { version, machine, noteKey, ...said } = await channel.receiveControl("enrol");
  const linkKey = toText(channel.peerKey);
  const known = selectFleetHostByKey(db, linkKey);
  let host: StoredHost;
  try {
    host = makeHost(deps, known, {
      ...{ name: name ?? said.name, labels, linkKey, noteKey, machine, version, inviteId },
      ...{ address: new URL(address).host, dialAddress: address },
    });
  } catch (error) {
    if (error instanceof AppError) await refuse(channel, error.message);
    throw error;
  }
  // Stored first: a host that has joined a hub which does not know it could not be added again.
  const hubKeyBefore = known && await hubKeyFor(deps, known.id);
  storeHost(deps, known, host, hubKey);
  try {
    await sendEnrolled(deps, channel, host);
    const reason = await channel.closed;
    if (reason === NOT_JOINED) {
      if (known) storeHost(deps, known, known, hubKeyBefore!);
      else deleteFleetHost(db, host.id);
      throw new AppError("forbidden", "The host has not joined");
    }
    if (reason !== JOINED) {
      throw new AppError("unavailable", `The host may have joined, run it again: ${reason}`);
    }
    return host;
  } finally {
    // The host stays stored, so that it is dialled if it has joined.
    fleet.refresh();
    changes.record(HOSTS_RESOURCE);
  }
}

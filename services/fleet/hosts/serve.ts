/** The hub's end of a connection to a host, whichever side has dialed. @module */

import {
  selectFleetHost,
  selectFleetHostByKey,
  type StoredHost,
  updateFleetHost,
} from "../../../db/fleet_hosts.ts";
import { selectFleetKey } from "../../../db/fleet_keys.ts";
import { promoteHostKeys, selectFleetHostByNextKey } from "../../../db/fleet_next_keys.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { emit } from "../../events/emit.ts";
import { VERSION } from "../../version.ts";
import { findInviteSecret } from "../enrolment/invites.ts";
import { type KeyDeps, toText } from "../enrolment/keys.ts";
import { type Channel, reasonOf, withinHandshake } from "../link/channel.ts";
import { type Connection, createConnection, type MessageSocket } from "../link/connection.ts";
import { type Control, NAME_MAX } from "../link/control.ts";
import { createLink } from "../link/link.ts";
import type { OpenLink } from "../link/open_link.ts";
import { clockOf } from "./clock.ts";
import { isWaveMessage, offerBlocks, receiveFromHost } from "../waves/hub_link.ts";
import { newWaveLink } from "../waves/exchange.ts";
import { challengeOf, isGenuine } from "./challenge.ts";
import { createIntake, type TakeDeps } from "../events/take.ts";
import type { OpenHost } from "./fleet.ts";
import { enrolHost, HOSTS_RESOURCE } from "./hosts.ts";
import { admitWithHubKey, tellHubKey } from "./hub_keys.ts";
import { noteKeyFor, receiveNoteKeyKept } from "./note_keys.ts";
import { createRekeying } from "./rekeying.ts";
import { heardAt } from "./state.ts";

export type ServeDeps =
  & TakeDeps
  & Pick<
    Deps,
    | "anonymousLog"
    | "changes"
    | "config"
    | "fleet"
    | "log"
    | "now"
    | "passing"
    | "secrets"
    | "server"
    | "startedAt"
  >;

/** Longest wait for the answer of a link that another connection would replace, in milliseconds. */
const PROBE_MS = 4_000;

/** Longest wait for the first message, in milliseconds: a host sends it at once. */
const FIRST_MS = 3_000;

/** Shortest time between two events about the same duplicate, in milliseconds. */
const DUPLICATE_PAUSE_MS = 60 * 60_000;

/** Events of a handshake. */
export interface HandshakeEvents {
  /** The peer has sent its first message, or is gone. */
  onFirst?: () => void;
  /** The peer has proved the key of a host. */
  onProved?: () => void;
}

/** The connection of a peer that has dialed, and must say something soon. */
export function acceptConnection(
  socket: MessageSocket,
  { onFirst = () => {}, onProved }: HandshakeEvents = {},
): Connection {
  const connection = createConnection(socket, onProved);
  const silent = setTimeout(() => connection.close("no message in time"), FIRST_MS);
  const endSilence = () => {
    clearTimeout(silent);
    onFirst();
  };
  socket.addEventListener("message", endSilence);
  connection.closed.then(endSilence);
  return connection;
}

/** Handles a connection that a host has dialed until it is a link, or was refused. Never rejects. */
export async function serveLink(
  deps: ServeDeps,
  socket: MessageSocket,
  address: string,
  events: HandshakeEvents = {},
): Promise<void> {
  await serveConnection(deps, acceptConnection(socket, events), { address });
}

/**
 * Handles a connection until it is a link, or was refused. Never rejects.
 *
 * @param peer.hostId The host that this hub has dialed: no other one is served.
 * @returns The link, if it was opened.
 */
export async function serveConnection(
  deps: ServeDeps,
  connection: Connection,
  { address, hostId }: Peer,
): Promise<OpenLink | undefined> {
  try {
    return await withinHandshake(connection, async () => {
      const { channel, inviteId, hubKey } = await admitWithHubKey(
        deps,
        connection,
        (id) => hostId === undefined ? findInviteSecret(deps, id) : undefined,
      );
      const peer = { address, hostId, hubKey };
      if (inviteId === undefined) return await welcome(deps, channel, peer);
      await enrol(deps, channel, { inviteId, address, hubKey });
    });
  } catch (error) {
    deps.anonymousLog.warn("fleet connection refused", { address, reason: reasonOf(error) });
  }
}

/** The other end of a connection. */
interface Peer {
  address: string;
  hostId?: string | undefined;
}

/** Adds a host, which then dials again as a member. */
async function enrol(
  deps: ServeDeps,
  channel: Channel,
  { inviteId, address, hubKey }: { inviteId: string; address: string; hubKey: string },
): Promise<void> {
  const given = await channel.receiveControl("enrol");
  let host: StoredHost;
  try {
    const linkKey = toText(channel.peerKey);
    host = enrolHost(deps, { ...given, inviteId, address, linkKey, hubKey });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return await refuse(channel, error.message);
  }
  deps.log.info("host joined the fleet", { host: host.name, address, isPending: host.isPending });
  await sendEnrolled(deps, channel, host);
  channel.close("enrolled");
}

/** Tells a host that it has joined. */
export async function sendEnrolled(
  deps: KeyDeps & Pick<Deps, "config">,
  channel: Channel,
  { id, name, isPending }: StoredHost,
): Promise<void> {
  await channel.sendControl({
    ...{ type: "enrolled", hostId: id, name, isPending },
    hubName: deps.config.serverName.slice(0, NAME_MAX),
    noteKey: await noteKeyFor(deps, id),
  });
}

/** Opens the link of a member. */
async function welcome(
  deps: ServeDeps,
  channel: Channel,
  { address, hostId, hubKey }: Peer & { hubKey: string },
): Promise<OpenLink | undefined> {
  const { db, fleet, now } = deps;
  const hello = await channel.receiveControl("hello");
  const key = toText(channel.peerKey);
  const known = selectFleetHostByKey(db, key);
  const host = known ?? selectFleetHostByNextKey(db, key);
  if (!host) return await refuse(channel, "This host is not in the fleet", { isUnknown: true });
  if (hostId !== undefined && hostId !== host.id) {
    return await refuse(channel, "This hub has dialed another host at this address");
  }
  // The first message is the same in both directions: a machine between them could pass it on.
  if (hostId === undefined && host.dialAddress !== null) {
    return await refuse(channel, "This hub dials this host");
  }
  if (host.leftAt !== null) {
    return await refuse(channel, "This host has left the fleet", { isFinal: true });
  }
  const open = fleet.hosts.get(host.id);
  const confirmed = { id: host.id, confirmed: host.challenge };
  if (!await isGenuine(deps, confirmed, hello.challenge) || open && await answers(open.link)) {
    reportDuplicate(deps, host, { address, otherAddress: open?.address ?? host.address });
    return await refuse(channel, "Another machine has the key of this host");
  }
  open?.link.close("the host has connected again");

  const counter = Math.max(hello.challenge?.counter ?? 0, host.challenge) + 1;
  const challenge = await challengeOf(deps, host.id, counter);
  const { isPending } = host;
  await channel.sendControl({
    ...{ type: "welcome", version: VERSION, isPending, challenge },
    takesEvents: true,
    hasWaves: true,
  });
  // Nothing waits from here on, so that of several connections at the same time one stays.
  const current = selectFleetHost(db, host.id);
  if (!current || current.leftAt !== null) {
    return await refuse(channel, "This host is not in the fleet");
  }
  const other = fleet.hosts.get(host.id);
  // On a busy hub, the host may have given that one up; it dials again soon, and then it is probed.
  if (other && other !== open) {
    channel.close("another connection was accepted meanwhile");
    return undefined;
  }
  if (!known) promoteHostKeys(db, host.id);
  updateFleetHost(db, host.id, {
    address,
    version: hello.version,
    lastSeenAt: now().toISOString(),
    isConnected: true,
  });
  let takeEvents: ReturnType<typeof createIntake> | undefined;
  const rekey = createRekeying(db, host.id);
  const link = createLink(channel, {
    peer: toText(channel.peerKey),
    isClient: false,
    onControl(message, link) {
      if (message.type === "rekey") return rekey(message, link);
      if (message.type === "note_key_kept") {
        return receiveNoteKeyKept(deps, { hostId: host.id, link }, message);
      }
      if (message.type !== "events") return receive(deps, { host, counter, link }, message);
      takeEvents ??= createIntake(deps, host.id, link);
      takeEvents(message);
    },
    clock: clockOf(deps),
  });
  const waves = newWaveLink();
  register(deps, current, { link, address, isPending: current.isPending, waves });
  if (isPending && !current.isPending) link.tell({ type: "accepted" });
  if (!current.isPending) {
    link.tell({ type: "labels", labels: current.labels, name: current.name });
  }
  if (hubKey !== selectFleetKey(db, "link")!.publicKey) tellHubKey(deps, [{ link }]);
  return link;
}

function register(
  deps: ServeDeps,
  host: StoredHost,
  open: OpenHost,
): void {
  const { db, fleet, changes, log } = deps;
  fleet.hosts.set(host.id, open);
  changes.record(HOSTS_RESOURCE);
  log.info("host connected", { host: host.name, address: open.address });
  if (!open.isPending) offerBlocks(deps, open);
  if (host.isReportedAway) {
    emit(deps, "host.back", { host: host.name, hostId: host.id }, () => {
      updateFleetHost(db, host.id, { isReportedAway: false });
    });
  }
  open.link.closed.then((reason) => {
    log.info("host disconnected", { host: host.name, reason });
    if (fleet.hosts.get(host.id) !== open) return;
    fleet.hosts.delete(host.id);
    updateFleetHost(db, host.id, { isConnected: false, lastSeenAt: heardAt(deps, open.link) });
    changes.record(HOSTS_RESOURCE);
  });
}

function receive(
  deps: ServeDeps,
  { host, counter, link }: { host: StoredHost; counter: number; link: OpenLink },
  message: Control,
): void {
  const { db, changes, fleet, now, log } = deps;
  const open = fleet.hosts.get(host.id);
  if (isWaveMessage(message)) {
    if (open?.link === link) receiveFromHost(deps, { id: host.id, open, message });
  } else if (message.type === "kept" && message.counter === counter) {
    // Once is enough, and each one would be written.
    if (selectFleetHost(db, host.id)?.challenge === counter) return;
    updateFleetHost(db, host.id, { challenge: counter });
  } else if (message.type === "leave") {
    // Messages that arrived before the end of the link follow, and each one would be written.
    if (selectFleetHost(db, host.id)?.leftAt !== null) return;
    updateFleetHost(db, host.id, { leftAt: now().toISOString() });
    fleet.refresh();
    log.info("host left the fleet", { host: host.name });
    link.close("the host has left");
    changes.record(HOSTS_RESOURCE);
  }
}

async function answers({ probe }: OpenLink): Promise<boolean> {
  const answered = probe().then(() => true, () => false);
  return await withDeadline(answered, PROBE_MS) ?? false;
}

export async function refuse(
  channel: Channel,
  reason: string,
  more: Partial<Control<"refused">> = {},
): Promise<undefined> {
  await channel.sendControl({ type: "refused", reason, isFinal: false, ...more });
  channel.close(reason);
}

function reportDuplicate(
  deps: ServeDeps,
  { id, name }: StoredHost,
  addresses: { address: string; otherAddress: string },
): void {
  deps.log.warn("duplicate host refused", { host: name, ...addresses });
  const at = deps.now().getTime();
  const { duplicates } = deps.fleet;
  if (at - (duplicates.get(id) ?? -Infinity) < DUPLICATE_PAUSE_MS) return;
  duplicates.set(id, at);
  emit(deps, "host.duplicate", { host: name, hostId: id, ...addresses });
}

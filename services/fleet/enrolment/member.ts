/** The member's end of the link to its hub: dials, keeps the link, and dials again. @module */

import { upsertEndedMembership } from "../../../db/fleet_ended_membership.ts";
import {
  deleteMembership,
  type Membership,
  selectMembership,
  updateMembership,
} from "../../../db/fleet_membership.ts";
import { deleteNextKeys } from "../../../db/fleet_next_keys.ts";
import type { Deps } from "../../deps.ts";
import { sleep } from "../../waiting.ts";
import { errorFields } from "../../log.ts";
import { VERSION } from "../../version.ts";
import { type Channel, dialLink, withinHandshake } from "../link/channel.ts";
import type { Control } from "../link/control.ts";
import { type Connection, ConnectionEnd } from "../link/connection.ts";
import { dial } from "../link/dial.ts";
import { createLink } from "../link/link.ts";
import { createEventSender, type SendDeps } from "../events/send.ts";
import { clockOf } from "../hosts/clock.ts";
import { tellHubKey } from "../hosts/hub_keys.ts";
import { createReceiver } from "../waves/member_link.ts";
import { beginHubLink, recordHubLink, reportMembership } from "./membership.ts";
import { hubKeyToTry, keepHubKey } from "./hub_keys.ts";
import { toBytes } from "./keys.ts";
import { announceNoteKey, createNoteKeyReceiver } from "./note_keys.ts";
import { type Attempt, retryMs } from "./retries.ts";
import {
  type DialKeys,
  dialKeys,
  dueKeys,
  ownKeys,
  receiveRekeyed,
  useNextKeys,
} from "./rotation.ts";

/** Interval of the checks of an open link, in milliseconds. */
const TICK_MS = 5_000;

export type MemberDeps =
  & SendDeps
  & Pick<Deps, "changes" | "config" | "db" | "fleet" | "log" | "now" | "passing" | "secrets">;

/** Keys of the next connections to the hub. */
export interface Dialing {
  /** Number of keys in a row that the hub did not know. */
  unknown: number;
  /** Number of keys of the hub in a row that it did not prove. */
  unproved: number;
}

/** Dials the hub again and again, until `signal` aborts or this installation is a member no more. */
export async function keepDialing(
  deps: MemberDeps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  const { fleet } = deps;
  let failures = 0;
  beginHubLink(deps);
  const dialing: Dialing = { unknown: 0, unproved: 0 };
  for (let { membership } = fleet; membership?.address && !signal.aborted;) {
    const attempt = await serveHub(deps, membership, dialing, signal);
    failures = attempt === "ended" ? 0 : failures + 1;
    round();
    const waitMs = retryMs(attempt, failures, Math.random());
    fleet.hub.nextTryAt = new Date(deps.now().getTime() + waitMs).toISOString();
    await sleepUnlessChanged(deps, waitMs, signal);
    fleet.hub.nextTryAt = undefined;
    ({ membership } = fleet);
  }
  // It may have ended without a link.
  reportMembership(deps);
}

/** Dials the hub once, and keeps the link until its end. Never rejects. */
async function serveHub(
  deps: MemberDeps,
  membership: Membership,
  dialing: Dialing,
  signal: AbortSignal,
): Promise<Attempt> {
  try {
    const connection = await dial(deps, membership.address, signal);
    return await linkToHub(deps, membership, { connection, dialing }, signal);
  } catch (error) {
    recordHubLink(deps, membership.hostId, { reason: (error as Error).message });
    deps.log.info("hub not reachable", {
      hub: membership.hubName,
      ...errorFields(error),
      stack: undefined,
    });
    return "failed";
  }
}

/**
 * Opens the link on a connection, whichever side has dialed, and keeps it until its end.
 *
 * @param on.onOpen Called when the hub has proved its key and the link is open.
 * @throws If the other end is not the hub.
 */
export async function linkToHub(
  deps: MemberDeps,
  membership: Membership,
  { connection, dialing, onOpen = () => {} }: {
    connection: Connection;
    dialing: Dialing;
    onOpen?: () => void;
  },
  signal: AbortSignal,
): Promise<Attempt> {
  const { fleet } = deps;
  const abort = () => connection.close("the host is stopping");
  signal.addEventListener("abort", abort, { once: true });
  try {
    const { isHub } = fleet;
    const { keys, use, isLast } = await dialKeys(deps, { isHub, unknown: dialing.unknown });
    const hubKey = hubKeyToTry(deps, membership, dialing.unproved++);
    const channel = await withinHandshake(
      connection,
      () => dialLink(connection, { keys, hubKey: toBytes(hubKey) }),
    );
    dialing.unproved = 0;
    keepHubKey(deps, membership, hubKey);
    const onWelcome = () => {
      if (use === "next") {
        useNextKeys(deps);
        tellHubKey(deps, fleet.hosts.values());
      }
      // The hub does not use new keys yet: it may not know them, or they are not those of a hub.
      if (use === "own") deleteNextKeys(deps.db);
      dialing.unknown = 0;
      onOpen();
    };
    const onUnknown = () => void dialing.unknown++;
    return await keepLink(deps, membership, { channel, use, isLast, onWelcome, onUnknown }, signal);
  } finally {
    signal.removeEventListener("abort", abort);
    connection.close("the host has ended the connection");
  }
}

/** A connection whose keys were proved. */
interface Dialed extends Pick<DialKeys, "use" | "isLast"> {
  channel: Channel;
  onWelcome: () => void;
  /** The hub does not know the key. */
  onUnknown: () => void;
}

async function keepLink(
  deps: MemberDeps,
  membership: Membership,
  { channel, use, isLast, onWelcome, onUnknown }: Dialed,
  signal: AbortSignal,
): Promise<Attempt> {
  const { db, fleet, log, passing } = deps;
  const { hostId, hubName, challenge: counter, challengeProof: proof } = membership;
  const challenge = counter === null || proof === null ? null : { counter, proof };
  await channel.sendControl({ type: "hello", version: VERSION, challenge });
  const answer = await withinHandshake(channel, () => channel.receiveControl("welcome", "refused"));
  if (answer.type === "refused") {
    if (answer.isUnknown) onUnknown();
    return receiveRefusal(deps, membership, answer, isLast);
  }

  onWelcome();
  const given = answer.challenge;
  const { isPending } = answer;
  updateMembership(db, hostId, {
    isPending,
    challenge: given.counter,
    challengeProof: given.proof,
    hubTakesEvents: answer.takesEvents,
    // A hub that has them says later whether it answers this host.
    ...!answer.hasWaves && { asksHub: false },
  });
  fleet.refresh();
  // A hub that has ended the connection meanwhile may have said why, which the link reads.
  await channel.sendControl({ type: "kept", counter: given.counter }).catch((error) => {
    if (!(error instanceof ConnectionEnd)) throw error;
  });
  let attempt: Attempt = "ended";
  const receiveWaves = createReceiver(deps, membership);
  const receiveNoteKey = createNoteKeyReceiver(deps, membership);
  const link = createLink(channel, {
    peer: membership.hubKey,
    isClient: true,
    accept: passing.accept,
    onControl(message) {
      if (message.type === "taken") return sender.onTaken(message);
      receiveWaves(message, link);
      if (message.type === "rekeyed" && use === "other") link.close("the own keys are used again");
      else if (message.type === "rekeyed") receiveRekeyed(deps, message);
      if (message.type === "accepted") updateMembership(db, hostId, { isPending: false });
      if (message.type === "hub_key") keepHubKey(deps, membership, message.linkKey);
      if (message.type === "note_key") receiveNoteKey(message, link);
      if (message.type === "labels") {
        const { name = membership.name, labels } = message;
        updateMembership(db, hostId, { name, labels });
      }
      if (message.type === "refused") attempt = receiveRefusal(deps, membership, message);
      fleet.refresh();
      if (message.type === "accepted" || message.type === "labels") reportMembership(deps);
    },
    clock: clockOf(deps),
  });
  // A hub that was cut off dials before this side notices the end.
  fleet.hub.link?.close("the hub has connected again");
  fleet.hub.link = link;
  recordHubLink(deps, hostId, { reason: null, isUnknown: false });
  announceNoteKey(deps, membership, link);
  log.info("connected to the hub", { hub: hubName, isPending });
  const over = new AbortController();
  link.closed.then(() => over.abort());
  const sender = createEventSender(deps, link);
  try {
    await Promise.all([tick(), watchMembership(), sender.run(over.signal)]);
  } finally {
    link.close("the host has ended the link");
    const reason = await link.closed;
    if (fleet.hub.link === link) {
      fleet.hub.link = undefined;
      recordHubLink(deps, hostId, { reason });
    }
    log.info("disconnected from the hub", { hub: hubName, reason });
  }
  return attempt;

  async function tick(): Promise<void> {
    while (!over.signal.aborted) {
      link.tick();
      const due = await (use === "other" ? ownKeys(deps) : dueKeys(deps));
      if (due) link.tell(due);
      await sleep(TICK_MS, over.signal);
    }
  }

  /** Tells the hub when this host has left. */
  async function watchMembership(): Promise<void> {
    const ended = AbortSignal.any([signal, over.signal]);
    while (!ended.aborted && fleet.membership?.hostId === hostId) await fleet.changed(ended);
    if (over.signal.aborted || signal.aborted) return;
    link.part({ type: "leave" }, "the host has left");
  }
}

/** A host that was removed is a member no more; any other refusal may end. */
function receiveRefusal(
  deps: MemberDeps,
  { hostId, hubName }: Membership,
  { reason, isFinal, isUnknown = false }: Control<"refused">,
  isLastKey = true,
): Attempt {
  const { db, fleet, log, now } = deps;
  log.warn("refused by the hub", { hub: hubName, reason, isFinal });
  // This host may have joined another hub meanwhile.
  const membership = selectMembership(db);
  if (membership?.hostId !== hostId) return "refused";
  recordHubLink(deps, hostId, {
    reason,
    ...(!isUnknown || isLastKey) && { isUnknown },
  });
  if (isFinal) {
    const { name } = membership;
    db.transaction(() => {
      deleteMembership(db);
      upsertEndedMembership(db, { hub: hubName, name, reason, endedAt: now().toISOString() });
    });
    fleet.refresh();
  }
  return "refused";
}

/** Sleeps, or returns as soon as the membership changes. */
async function sleepUnlessChanged(
  { fleet }: Pick<Deps, "fleet">,
  ms: number,
  signal: AbortSignal,
): Promise<void> {
  const woken = new AbortController();
  const either = AbortSignal.any([signal, woken.signal]);
  const changed = fleet.changed(either).then(() => woken.abort());
  await sleep(ms, either);
  woken.abort();
  await changed;
}

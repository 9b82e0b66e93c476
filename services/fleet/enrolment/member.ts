/** The member's end of the link to its hub: dials, keeps the link, and dials again. @module */

import {
  deleteMembership,
  type Membership,
  updateMembership,
} from "../../../db/fleet_membership.ts";
import { deleteNextKeys } from "../../../db/fleet_next_keys.ts";
import type { Deps } from "../../deps.ts";
import { sleep } from "../../waiting.ts";
import { errorFields } from "../../log.ts";
import { VERSION } from "../../version.ts";
import { type Channel, dialLink, withinHandshake } from "../link/channel.ts";
import type { Control } from "../link/control.ts";
import { dial } from "../link/dial.ts";
import { createLink } from "../link/link.ts";
import { createEventSender, type SendDeps } from "../events/send.ts";
import { clockOf } from "../hosts/clock.ts";
import { createReceiver } from "../waves/member_link.ts";
import { toBytes } from "./keys.ts";
import { type Attempt, retryMs } from "./retries.ts";
import { dialKeys, dueKeys, receiveRekeyed, useNextKeys } from "./rotation.ts";

/** Interval of the checks of an open link, in milliseconds. */
const TICK_MS = 5_000;

type MemberDeps =
  & SendDeps
  & Pick<Deps, "changes" | "config" | "db" | "fleet" | "log" | "now" | "passing" | "secrets">;

/** Dials the hub again and again, until `signal` aborts or this installation is a member no more. */
export async function keepDialing(
  deps: MemberDeps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  let failures = 0;
  const dialing = { isNextRefused: false };
  for (let { membership } = deps.fleet; membership && !signal.aborted;) {
    const attempt = await serveHub(deps, membership, dialing, signal);
    failures = attempt === "ended" ? 0 : failures + 1;
    round();
    await sleepUnlessChanged(deps, retryMs(attempt, failures, Math.random()), signal);
    ({ membership } = deps.fleet);
  }
}

/** Dials the hub once, and keeps the link until its end. Never rejects. */
async function serveHub(
  deps: MemberDeps,
  membership: Membership,
  dialing: { isNextRefused: boolean },
  signal: AbortSignal,
): Promise<Attempt> {
  const { fleet, log } = deps;
  const stop = new AbortController();
  const stopped = AbortSignal.any([signal, stop.signal]);
  try {
    const connection = await dial(deps, membership.address, stopped);
    const abort = () => connection.close("the host is stopping");
    stopped.addEventListener("abort", abort, { once: true });
    const { keys, isNext } = await dialKeys(deps, dialing.isNextRefused || fleet.isHub);
    const channel = await withinHandshake(
      connection,
      () => dialLink(connection, { keys, hubKey: toBytes(membership.hubKey) }),
    );
    const onWelcome = () => {
      if (isNext) useNextKeys(deps);
      // Announced again, if the hub did not know them.
      else if (dialing.isNextRefused) deleteNextKeys(deps.db);
      dialing.isNextRefused = false;
    };
    const attempt = await keepLink(deps, membership, { channel, onWelcome }, stopped);
    if (isNext && attempt === "refused") dialing.isNextRefused = true;
    return attempt;
  } catch (error) {
    fleet.hub.reason = (error as Error).message;
    log.info("hub not reachable", {
      hub: membership.hubName,
      ...errorFields(error),
      stack: undefined,
    });
    return "failed";
  } finally {
    stop.abort();
  }
}

async function keepLink(
  deps: MemberDeps,
  membership: Membership,
  { channel, onWelcome }: { channel: Channel; onWelcome: () => void },
  signal: AbortSignal,
): Promise<Attempt> {
  const { db, fleet, log, passing } = deps;
  const { hostId, hubName, challenge: counter, challengeProof: proof } = membership;
  const challenge = counter === null || proof === null ? null : { counter, proof };
  await channel.sendControl({ type: "hello", version: VERSION, challenge });
  const answer = await withinHandshake(channel, () => channel.receiveControl("welcome", "refused"));
  if (answer.type === "refused") return receiveRefusal(deps, membership, answer);

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
  await channel.sendControl({ type: "kept", counter: given.counter });
  let attempt: Attempt = "ended";
  const receiveWaves = createReceiver(deps, membership);
  const link = createLink(channel, {
    peer: membership.hubKey,
    isClient: true,
    accept: passing.accept,
    onControl(message) {
      if (message.type === "taken") return sender.onTaken(message);
      receiveWaves(message, link);
      if (message.type === "rekeyed") receiveRekeyed(deps, message);
      if (message.type === "accepted") updateMembership(db, hostId, { isPending: false });
      if (message.type === "labels") updateMembership(db, hostId, { labels: message.labels });
      if (message.type === "refused") attempt = receiveRefusal(deps, membership, message);
      fleet.refresh();
    },
    clock: clockOf(deps),
  });
  fleet.hub.link = link;
  fleet.hub.reason = undefined;
  log.info("connected to the hub", { hub: hubName, isPending });
  const over = new AbortController();
  link.closed.then(() => over.abort());
  const sender = createEventSender(deps, link);
  await Promise.all([tick(), watchMembership(), sender.run(over.signal)]);
  fleet.hub.link = undefined;
  fleet.hub.reason = await link.closed;
  log.info("disconnected from the hub", { hub: hubName, reason: fleet.hub.reason });
  return attempt;

  async function tick(): Promise<void> {
    while (!over.signal.aborted) {
      link.tick();
      // Hosts of a hub know it by its key.
      const due = fleet.isHub ? undefined : await dueKeys(deps);
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
  { db, fleet, log }: MemberDeps,
  { hubName }: Membership,
  { reason, isFinal }: Control<"refused">,
): Attempt {
  log.warn("refused by the hub", { hub: hubName, reason, isFinal });
  fleet.hub.reason = reason;
  if (isFinal) {
    deleteMembership(db);
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

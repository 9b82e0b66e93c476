/** Sends the events of this member to its hub, and lets the own channels tell what the hub does not. @module */

import {
  countOutgoingEvents,
  deleteOutgoingEvent,
  deleteOutgoingEvents,
  type OutgoingEvent,
  selectEventsOfOthers,
  selectOutgoingEvents,
  selectUntoldEvents,
  updateOutgoingEvent,
} from "../../../db/fleet_outgoing_events.ts";
import type { Deps } from "../../deps.ts";
import { type EmitDeps, tellPeople } from "../../events/emit.ts";
import type { AppEvent } from "../../events/events.ts";
import { errorFields } from "../../log.ts";
import { sleep } from "../../waiting.ts";
import { type Control, CONTROL_MAX, EVENTS_MAX, type PassedEvent } from "../link/control.ts";
import type { OpenLink } from "../link/open_link.ts";
import { HUB_AWAY_MS } from "./outgoing.ts";
import { bytesOf } from "./shorten.ts";

const ROUND_MS = 5_000;

/** Longest wait for an event before the queue is read again, in milliseconds. */
const WAIT_MS = 60_000;

/** Events that are told in one transaction. */
const TOLD_AT_ONCE = 50;

/** Bytes of the events of a message; the rest of it is short. */
const EVENTS_BYTES_MAX = CONTROL_MAX - 1_024;

export type SendDeps = EmitDeps & Pick<Deps, "fleet" | "log" | "now" | "outgoing">;

/** Sends events over one link, some at a time. */
export interface EventSender {
  /** Sends until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** Takes an acknowledgement of the hub. */
  onTaken(taken: Control<"taken">): void;
}

export function createEventSender(deps: SendDeps, link: Pick<OpenLink, "tell">): EventSender {
  const { outgoing } = deps;
  let waiting: PromiseWithResolvers<Control<"taken"> | undefined> | undefined;

  async function sendNext(signal: AbortSignal): Promise<void> {
    const events = nextEvents(deps);
    if (events.length === 0) return await outgoing.signal.wait(WAIT_MS, signal);
    waiting = Promise.withResolvers();
    link.tell({ type: "events", events: events.map(toPassed) });
    const taken = await waiting.promise;
    waiting = undefined;
    if (!taken) return;
    settle(deps, events, taken);
    outgoing.hubSeenMs = deps.now().getTime();
    noteEmpty(deps);
  }

  return {
    async run(signal) {
      const stop = () => waiting?.resolve(undefined);
      signal.addEventListener("abort", stop, { once: true });
      while (!signal.aborted) {
        noteEmpty(deps);
        if (outgoing.isNeeded) await sendNext(signal);
        else await deps.fleet.changed(signal);
      }
    },
    onTaken: (taken) => waiting?.resolve(taken),
  };
}

/** The oldest events, as many as a message can have. */
function nextEvents({ db, fleet }: SendDeps): OutgoingEvent[] {
  let bytes = 0;
  const rows = selectOutgoingEvents(db, fleet.membership?.hostId ?? "", EVENTS_MAX);
  const end = rows.findIndex((row) => (bytes += bytesOf(toPassed(row))) > EVENTS_BYTES_MAX);
  return end < 0 ? rows : rows.slice(0, Math.max(1, end));
}

function toPassed({ sequence, id, mode, event, rootId, stack }: OutgoingEvent): PassedEvent {
  const { event: kind, eventId, timestamp, data } = event as AppEvent;
  return {
    ...{ sequence, id, mode, rootId },
    stack: stack?.slice(0, 255) ?? null,
    event: { event: kind, eventId, timestamp, data: { ...data } },
  };
}

/** Forgets what the hub has taken, and tells people what it leaves to this host. */
function settle(
  deps: SendDeps,
  events: readonly OutgoingEvent[],
  { upTo, left }: Control<"taken">,
): void {
  const taken = events.filter(({ sequence }) => sequence <= upTo);
  deps.db.transaction(() => {
    for (const { sequence, mode, event } of taken) {
      deleteOutgoingEvent(deps.db, sequence);
      if (mode !== "told" && left.includes(sequence)) tell(deps, event);
    }
  });
}

/** Tells people; an event that cannot be told does not keep others from it. */
function tell(deps: SendDeps, event: object): void {
  try {
    tellPeople(deps, event as AppEvent);
  } catch (error) {
    deps.log.error("event not told", errorFields(error));
  }
}

/** The hub tells people again as soon as it has all events; until then, it would be late. */
function noteEmpty({ db, fleet, now, outgoing }: SendDeps): void {
  if (!fleet.hub.link || countOutgoingEvents(db) > 0) return;
  outgoing.hubSeenMs = now().getTime();
  outgoing.isHubAway = false;
}

/** Uses the own channels while the hub is away, until `signal` aborts or the membership ends. */
export async function watchHub(
  deps: SendDeps,
  signal: AbortSignal,
  round: () => void,
): Promise<void> {
  while (!signal.aborted && deps.fleet.membership) {
    checkHub(deps);
    round();
    await sleep(ROUND_MS, signal);
  }
  if (!deps.fleet.membership) forgetHub(deps);
}

/** Tells people what the hub has not taken for ten minutes, as if it were away. */
export function checkHub(deps: SendDeps): void {
  const { db, now, outgoing } = deps;
  forgetOthers(deps);
  // The hub takes no events any more, e.g. because it has an older version again.
  if (!outgoing.isNeeded) return forgetHub(deps);
  noteEmpty(deps);
  const at = now().getTime();
  const [oldest] = selectUntoldEvents(db, 1);
  const isLate = oldest !== undefined && at - Date.parse(oldest.createdAt) >= HUB_AWAY_MS;
  if (!isLate && (outgoing.isHubAway || at - outgoing.hubSeenMs < HUB_AWAY_MS)) return;
  tellUntold(deps);
  outgoing.isHubAway = true;
}

/** Tells people what a hub of before has not taken, and forgets it. */
export function forgetOthers(deps: SendDeps): void {
  const { db, fleet } = deps;
  const hostId = fleet.membership?.hostId ?? "";
  const select = () => selectEventsOfOthers(db, hostId, TOLD_AT_ONCE);
  for (let events = select(); events.length > 0; events = select()) {
    db.transaction(() => {
      for (const { sequence, mode, event } of events) {
        if (mode !== "told") tell(deps, event);
        deleteOutgoingEvent(db, sequence);
      }
    });
  }
}

/** Without a hub that takes events, people are told what the last one has not taken. */
function forgetHub(deps: SendDeps): void {
  tellUntold(deps);
  deleteOutgoingEvents(deps.db);
}

/** The hub gets these events later, without a message to people. */
function tellUntold(deps: SendDeps): void {
  const { db } = deps;
  for (;;) {
    const events = selectUntoldEvents(db, TOLD_AT_ONCE);
    if (events.length === 0) return;
    db.transaction(() => {
      for (const { sequence, mode, event } of events) {
        tell(deps, event);
        if (mode === "late") deleteOutgoingEvent(db, sequence);
        else updateOutgoingEvent(db, sequence, { mode: "told" });
      }
    });
  }
}

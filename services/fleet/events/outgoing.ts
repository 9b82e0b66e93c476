/** Events of this member, kept until its hub has acknowledged them. @module */

import {
  insertOutgoingEvent,
  type OutgoingEvent,
  type OutgoingMode,
} from "../../../db/fleet_outgoing_events.ts";
import { stackOf } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { type AppEvent, containersOf } from "../../events/events.ts";
import type { OutgoingQueue } from "../../events/outgoing.ts";
import { createOutboxSignal } from "../../events/outbox_signal.ts";
import { isWorthTelling } from "../../messages/causes.ts";
import { shorten } from "./shorten.ts";

/** Limit of the events that wait for the hub. */
const WAITING_MAX = 10_000;

/** Time after which a hub is away so that the own channels are used, in milliseconds. */
export const HUB_AWAY_MS = 10 * 60_000;

type QueueDeps = Pick<Deps, "db" | "fleet" | "inventory" | "now" | "reservations">;

export function createOutgoing(deps: QueueDeps): OutgoingQueue {
  const { db, fleet, now } = deps;
  const signal = createOutboxSignal();
  const queue: OutgoingQueue = {
    signal,
    isHubAway: false,
    hubSeenMs: now().getTime(),
    get isNeeded() {
      const { membership } = fleet;
      return membership !== undefined && !membership.isPending && membership.hubTakesEvents;
    },
    get isHubTelling() {
      return queue.isNeeded && !queue.isHubAway;
    },
    add(event, root, mode) {
      insertOutgoingEvent(db, rowOf(deps, event, root, mode), WAITING_MAX);
      signal.notify();
    },
  };
  return queue;
}

function rowOf(
  deps: QueueDeps,
  event: AppEvent,
  root: AppEvent,
  mode: OutgoingMode,
): Omit<OutgoingEvent, "sequence"> {
  const [first] = containersOf(event);
  const container = deps.inventory.listFollowed().find(({ name }) => name === first);
  return {
    // The hub knows the event that was held back here.
    id: mode === "late" ? crypto.randomUUID() : event.eventId,
    mode: mode === "new" && !isWorthTelling(deps, event) ? "told" : mode,
    event: shorten(event),
    rootId: root === event ? null : root.eventId,
    stack: container ? stackOf(container) : null,
    createdAt: deps.now().toISOString(),
    hostId: deps.fleet.membership?.hostId ?? "",
  };
}

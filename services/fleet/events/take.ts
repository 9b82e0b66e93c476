/**
 * Takes the events of the hosts of this hub, each once: its id is stored in the transaction of its
 * messages, and only then the host is told to forget it.
 *
 * @module
 */

import { selectFleetHost, type StoredHost } from "../../../db/fleet_hosts.ts";
import { insertTakenEvent, selectTakenEvent } from "../../../db/fleet_taken_events.ts";
import type { Deps } from "../../deps.ts";
import { type EmitDeps, hasReceivers, recordOfHost } from "../../events/emit.ts";
import type { AppEvent } from "../../events/events.ts";
import { errorFields } from "../../log.ts";
import { sleep } from "../../waiting.ts";
import type { Control, PassedEvent } from "../link/control.ts";
import type { OpenLink } from "../link/open_link.ts";
import { eventOfHost } from "./of_host.ts";

/** Ids that are kept of each host; it sends at most 20 events again. */
const IDS_KEPT = 1_000;

/** Events that a host may send at once, and in each second. */
const BURST = 500;
const SECOND = 5;

export type TakeDeps = EmitDeps & Pick<Deps, "config" | "fleet" | "inventory" | "log" | "now">;

/**
 * Returns a function that takes the messages of one link. A host that sends the next one before the
 * last was taken is disconnected.
 */
export function createIntake(
  deps: TakeDeps,
  hostId: string,
  link: Pick<OpenLink, "close" | "closed" | "tell">,
): (message: Control<"events">) => void {
  const closed = new AbortController();
  link.closed.then(() => closed.abort());
  let isBusy = false;
  return ({ events }) => {
    if (isBusy || !deps.fleet.link(hostId)) {
      return link.close("the host sent events that it may not send yet");
    }
    isBusy = true;
    take().catch((error) => {
      deps.log.error("events of a host not taken", { hostId, ...errorFields(error) });
      link.close("the events could not be taken");
    });

    async function take(): Promise<void> {
      await sleep(waitMs(deps, hostId, events.length), closed.signal);
      if (closed.signal.aborted) return;
      const taken = takeEvents(deps, hostId, events);
      isBusy = false;
      link.tell({ type: "taken", ...taken });
    }
  };
}

/** Time until a host may send that many events, in milliseconds. */
function waitMs({ fleet: { paces } }: TakeDeps, hostId: string, count: number): number {
  const at = performance.now();
  const from = Math.max(paces.get(hostId) ?? -Infinity, at - BURST / SECOND * 1_000);
  const until = from + count / SECOND * 1_000;
  paces.set(hostId, until);
  return Math.max(0, until - at);
}

/** Takes events in the order of the host. @returns What is acknowledged. */
export function takeEvents(
  deps: TakeDeps,
  hostId: string,
  events: readonly PassedEvent[],
): Omit<Control<"taken">, "type"> {
  const left: number[] = [];
  const roots = new Map<string, AppEvent>();
  let upTo = 0;
  for (const given of events) {
    const host = selectFleetHost(deps.db, hostId);
    if (!host) break;
    if (takeEvent(deps, host, given, roots)) left.push(given.sequence);
    upTo = given.sequence;
  }
  return { upTo, left };
}

/** @returns Whether the host has to tell people itself. */
function takeEvent(
  deps: TakeDeps,
  host: StoredHost,
  given: PassedEvent,
  roots: Map<string, AppEvent>,
): boolean {
  const { db, fleet } = deps;
  const { id, mode, rootId } = given;
  const known = selectTakenEvent(db, host.id, id);
  if (known) return known.isLeft;
  const event = eventOfHost(deps, host, given);
  const isLeft = mode !== "told" && !(event && hasReceivers(deps));
  const store = () => insertTakenEvent(db, { hostId: host.id, id, isLeft }, IDS_KEPT);
  const isRepeated = !isLeft && event !== undefined && fleet.isRepeated(event, mode === "told");
  if (!event || isRepeated && mode === "late") {
    store();
    return isLeft;
  }
  const root = rootId === null ? event : roots.get(rootId) ?? event;
  const recorded = isRepeated ? "repeated" : isLeft && mode === "new" ? "told" : mode;
  recordOfHost(deps, { event, root, mode: recorded }, store);
  roots.set(event.eventId, event);
  if (mode !== "late") fleet.received.add(event);
  return isLeft;
}

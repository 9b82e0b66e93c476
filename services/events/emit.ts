/**
 * Publishes events: each is stored with its cause, queued in the outbox for every channel that must
 * not miss it, and then passed to the subscribers of the event bus.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import { includesEdition } from "../edition.ts";
import { type AppEvent, createEnvelope } from "./events.ts";
import type { OutgoingMode } from "../../db/fleet_outgoing_events.ts";
import type { EventKind, EventMap } from "./kinds/mod.ts";
import type { Recorder, RecorderDeps } from "./recorder.ts";

/** Dependencies of {@linkcode emit}. */
export type EmitDeps =
  & RecorderDeps
  & Pick<Deps, "events" | "fleet" | "license" | "outgoing" | "recorders" | "server" | "silencer">;

/** Maximum number of events that one event may cause; more indicates a cycle of recorders. */
const FOLLOWING_MAX = 64;

/**
 * Emits an event. Its cause, the messages about it and what follows from it are committed
 * together, so that after a crash there is neither a cause without its messages nor the reverse.
 *
 * @param store Writes the cause (an alert event, a failed run); synchronous.
 */
export function emit<Kind extends EventKind>(
  deps: EmitDeps,
  kind: Kind,
  data: EventMap[Kind],
  store: () => void = () => {},
): AppEvent {
  const { db, events, fleet, license, outgoing, recorders, silencer } = deps;
  const envelope = createEnvelope(deps);
  const event = { event: kind, ...envelope, data: withImage(deps, data) } as AppEvent;
  const all = [event];
  db.transaction(() => {
    store();
    for (const current of all) {
      const pause = silencer.pauseOf(current, event);
      const ofPeople = pause ?? (outgoing.isHubTelling ? "hub" : undefined);
      const isRepeated = fleet.isRepeated(current, ofPeople !== undefined);
      for (const recorder of recorders) {
        if (!isInForce(license, recorder) || isRepeated && recorder.isForPeople) continue;
        const own = recorder.isForPeople ? ofPeople : pause;
        for (const next of recorder.record(deps, current, event, own) ?? []) {
          if (all.length > FOLLOWING_MAX) {
            throw new Error(`${kind} causes an endless chain of events`);
          }
          all.push({ ...next, ...envelope, eventId: crypto.randomUUID() } as AppEvent);
        }
      }
      if (outgoing.isNeeded) {
        outgoing.add(current, event, ofPeople === "hub" ? "new" : "told");
      }
    }
  });
  for (const each of all) events.publish(each);
  return event;
}

/** Adds the image of the container that an event is about, as far as it is known. */
function withImage<Data extends object>({ inventory }: Pick<Deps, "inventory">, data: Data): Data {
  const { id, container, image } = data as { id?: string; container?: string; image?: string };
  if (container === undefined || image !== undefined) return data;
  const found = inventory.get(id ?? "") ?? inventory.list().find(({ name }) => name === container);
  return found ? { ...data, image: found.image } : data;
}

/**
 * Tells people about an event that was emitted during a pause, through the hub if that tells them. Must
 * be called in a transaction.
 */
export function notifyPeople(deps: EmitDeps, event: AppEvent): void {
  if (deps.outgoing.isHubTelling) deps.outgoing.add(event, event, "late");
  else tellPeople(deps, event);
}

/**
 * Passes an event that was not reported when it was emitted to the recorders whose messages people get.
 * Must be called in a transaction.
 */
export function tellPeople(deps: EmitDeps, event: AppEvent, root = event): void {
  for (const recorder of deps.recorders) {
    if (recorder.isForPeople && isInForce(deps.license, recorder)) {
      recorder.record(deps, event, root, undefined);
    }
  }
}

/** Whether people would get messages about events of the hosts of this hub. */
export const hasReceivers = (deps: EmitDeps): boolean =>
  deps.recorders.some((recorder) =>
    recorder.takesHosts && recorder.isForPeople && isInForce(deps.license, recorder) &&
    recorder.hasReceivers?.(deps)
  );

/**
 * Queues the messages about an event of a host of this hub, in one transaction with `store`. Nothing
 * here follows from it, and subscribers of the event bus do not get it.
 *
 * @param root The event that caused it, or itself.
 * @param mode Whether people were told already, or are the only ones that are told; `repeated`: by the
 * event of another host, which decides about this problem.
 */
export function recordOfHost(
  deps: EmitDeps,
  { event, root, mode }: { event: AppEvent; root: AppEvent; mode: OutgoingMode | "repeated" },
  store: () => void,
): void {
  const { db, license, recorders, silencer } = deps;
  db.transaction(() => {
    store();
    const pause = mode === "repeated"
      ? undefined
      : mode === "told"
      ? silencer.skip(event)
      : silencer.pauseOf(event, root);
    for (const recorder of recorders) {
      if (!recorder.takesHosts || !isInForce(license, recorder)) continue;
      if (recorder.isForPeople ? mode !== "repeated" : mode !== "late") {
        recorder.record(deps, event, root, pause);
      }
    }
  });
}

const isInForce = (license: Deps["license"], { edition, isProtection }: Recorder): boolean =>
  includesEdition(license.edition, edition) ||
  isProtection === true && license.protectedUntil() !== undefined;

/**
 * How an event comes into the world: stored with its cause, written into the outbox of everyone
 * who must not miss it, and told to everyone who listens.
 *
 * @module
 */

import type { Deps } from "./deps.ts";
import { includesEdition } from "./edition.ts";
import type { AppEvent, EventKind, EventMap } from "./events.ts";
import type { RecorderDeps } from "./recorder.ts";

/** What {@linkcode emit} needs. */
export type EmitDeps = RecorderDeps & Pick<Deps, "events" | "license" | "recorders">;

/**
 * Emits an event. Its cause and the messages about it are committed together, so that after a
 * crash there is neither a cause without its messages nor the reverse.
 *
 * @param store Writes the cause (an alert event, a failed run); synchronous.
 */
export function emit<Kind extends EventKind>(
  deps: EmitDeps,
  kind: Kind,
  data: EventMap[Kind],
  store: () => void = () => {},
): AppEvent {
  const { db, events, license, recorders, now } = deps;
  const event = { event: kind, timestamp: now().toISOString(), data } as AppEvent;
  db.transaction(() => {
    store();
    for (const recorder of recorders) {
      if (includesEdition(license.edition, recorder.edition)) recorder.record(deps, event);
    }
  });
  events.publish(event);
  return event;
}

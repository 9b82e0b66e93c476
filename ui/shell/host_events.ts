/** Reads the events of the hosts of the fleet while a page shows them. Loaded with a fleet only. @module */

import { computed, effect } from "@preact/signals";
import { areHostEventsShown, hostEvents, isVisible, type LiveEvent } from "../state/live.ts";
import { HOST } from "../state/root.ts";
import { hasEnded, session } from "../state/session.ts";
import { followStream } from "../state/stream.ts";

/** Limit of events that are kept. */
const EVENTS_MAX = 100;

/** An id from before every event: the service sends the events that it still has. */
let lastEventId = "1";

export function followHostEvents(): void {
  // The pages of a host show its own events only.
  if (HOST !== undefined) return;
  const isWanted = computed(() =>
    areHostEventsShown.value && isVisible.value && Boolean(session.value) && !hasEnded.value
  );
  effect(() => {
    if (!isWanted.value) return;
    const end = new AbortController();
    void followStream({
      signal: end.signal,
      path: "api/stream?hosts=*&types=event",
      lastEventId,
      onFrame({ id, type, json }) {
        lastEventId = id ?? lastEventId;
        if (type === "event") add(JSON.parse(json));
      },
      onState: () => {},
      // A role that may not read the stream.
      onRefusal: () => {},
    });
    return () => end.abort();
  });
}

function add(event: LiveEvent): void {
  const before = hostEvents.peek();
  if (before.some(({ eventId }) => eventId === event.eventId)) return;
  hostEvents.value = [event, ...before].slice(0, EVENTS_MAX);
}

/**
 * Sends state frames to stream clients every 15 seconds, and events immediately.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { every, type Worker } from "../../lifecycle.ts";
import { ADMIN_EVENT, ADMIN_KINDS } from "./admin_events.ts";
import { broadcastStates } from "./frames.ts";

const ROUND_MS = 15_000;

export const streamBroadcaster: Worker = {
  name: "stream broadcaster",
  edition: "ce",
  async run(deps, signal, round) {
    const stop = new AbortController();
    const stopped = AbortSignal.any([signal, stop.signal]);
    const forwarding = forwardEvents(deps, stopped);
    try {
      for await (const _ of every(ROUND_MS, stopped)) {
        await broadcastStates(deps);
        round();
      }
    } finally {
      stop.abort();
      // The server cannot shut down while a stream is open.
      if (signal.aborted) deps.stream.close();
      await forwarding;
    }
  },
};

/** Forwards events to stream clients until `signal` aborts. */
export async function forwardEvents(
  { events, stream }: Pick<Deps, "events" | "stream">,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of events.subscribe(signal)) {
    const type = ADMIN_KINDS.has(event.event) ? ADMIN_EVENT : "event";
    stream.publish(type, event, "event");
  }
}

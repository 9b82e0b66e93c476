/**
 * Sends the states to the clients of the stream every 15 seconds, and the events as they happen.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { every, type Worker } from "../../lifecycle.ts";
import { broadcastStates } from "./frames.ts";

/** As the specification has it, in milliseconds. */
const ROUND_MS = 15_000;

export const streamBroadcaster: Worker = {
  name: "stream broadcaster",
  edition: "ce",
  async run(deps, signal, round) {
    const end = new AbortController();
    const ended = AbortSignal.any([signal, end.signal]);
    const forwarding = forwardEvents(deps, ended);
    try {
      for await (const _ of every(ROUND_MS, ended)) {
        await broadcastStates(deps);
        round();
      }
    } finally {
      end.abort();
      // An open stream would keep the server from ending.
      if (signal.aborted) deps.stream.close();
      await forwarding;
    }
  },
};

/** Passes the events on to the stream's clients, until `signal` aborts. */
export async function forwardEvents(
  { events, stream }: Pick<Deps, "events" | "stream">,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of events.subscribe(signal)) stream.publish("event", event);
}

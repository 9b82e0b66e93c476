/**
 * Sends state frames to stream clients every 15 seconds and soon after a change, and events
 * immediately.
 *
 * @module
 */

import type { Deps } from "../deps.ts";
import type { Worker } from "../lifecycle.ts";
import { sleep } from "../waiting.ts";
import { toView } from "../events/description.ts";
import { eventKind } from "../events/kinds/mod.ts";
import { ADMIN_EVENT } from "./view.ts";
import { broadcastStates } from "./frames.ts";

const ROUND_MS = 15_000;

/** Interval between checks for changes, in milliseconds. */
const CHECK_MS = 500;

/** Shortest time between two rounds, in milliseconds; plus that of each container and each client. */
const PAUSE_MS = 500;
const PAUSE_OF_CONTAINER_MS = 5;
const PAUSE_OF_CLIENT_MS = 0.5;

export const streamBroadcaster: Worker = {
  name: "stream broadcaster",
  edition: "ce",
  async run(deps, signal, round) {
    const stop = new AbortController();
    const stopped = AbortSignal.any([signal, stop.signal]);
    const forwarding = forwardEvents(deps, stopped);
    try {
      while (!stopped.aborted) {
        const version = versionOf(deps);
        await broadcastStates(deps);
        round();
        await waitForRound(deps, version, stopped);
      }
    } finally {
      stop.abort();
      // The server cannot shut down while a stream is open.
      if (signal.aborted) deps.stream.close();
      await forwarding;
    }
  },
};

/**
 * Changes with containers, the state of the engine and other resources. Without the engine's events,
 * each listing is a new revision, also that for a round.
 */
const versionOf = (
  { changes, inventory: { live, revision } }: Pick<Deps, "changes" | "inventory">,
) => `${live && revision} ${changes.total}`;

/** Waits until a round is due: after a change, but not at once where rounds are costly. */
async function waitForRound(
  deps: Deps,
  version: ReturnType<typeof versionOf>,
  signal: AbortSignal,
): Promise<void> {
  const pauseMs = PAUSE_MS + PAUSE_OF_CONTAINER_MS * deps.inventory.list().length +
    PAUSE_OF_CLIENT_MS * deps.stream.count;
  for (let waitedMs = 0; waitedMs < ROUND_MS && !signal.aborted; waitedMs += CHECK_MS) {
    if (waitedMs >= pauseMs && versionOf(deps) !== version) return;
    await sleep(CHECK_MS, signal);
  }
}

/** Forwards events to stream clients until `signal` aborts. */
export async function forwardEvents(
  { events, stream }: Pick<Deps, "events" | "stream">,
  signal: AbortSignal,
): Promise<void> {
  for await (const event of events.subscribe(signal)) {
    const type = eventKind(event.event).isForAdmins ? ADMIN_EVENT : "event";
    stream.publish(type, toView(event), "event");
  }
}

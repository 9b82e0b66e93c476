/**
 * The worker that checks log streams every second: authorization, new containers, restarts.
 *
 * @module
 */

import type { Deps } from "../../../deps.ts";
import { every, type Worker } from "../../../lifecycle.ts";

const ROUND_MS = 1_000;

export const logStreamKeeper: Worker = {
  name: "log stream keeper",
  edition: "ce",
  async run({ events, logStreams }, signal, round) {
    const stop = new AbortController();
    const stopped = AbortSignal.any([signal, stop.signal]);
    const waking = wakeStarted({ events, logStreams }, stopped);
    try {
      for await (const _ of every(ROUND_MS, stopped)) {
        logStreams.tick();
        round();
      }
    } finally {
      stop.abort();
      // The server cannot shut down while a stream is open.
      if (signal.aborted) logStreams.close();
      await waking;
    }
  },
};

/** Continues the streams of containers that were started. */
async function wakeStarted(
  { events, logStreams }: Pick<Deps, "events" | "logStreams">,
  signal: AbortSignal,
): Promise<void> {
  for await (const { event, data } of events.subscribe(signal)) {
    if (event === "container.up") logStreams.wake(data.id);
  }
}

/** Work that goes on after failures that pass, such as a lack of file descriptors. @module */

import { errorFields, type Log } from "../services/log.ts";

/** Pause after a failure, in milliseconds, and how long failures may last. */
const RETRY_MS = 100;
const FAILING_MAX_MS = 60_000;

export interface Persistence {
  log: Log;
  /** A monotonic clock in milliseconds. */
  now: () => number;
  isClosed: () => boolean;
  /** Closes connections, so that descriptors become free. */
  onFailure: () => void;
  pause?: (ms: number) => Promise<void>;
}

/**
 * Repeats `attempt` until `isClosed` and a failure.
 *
 * @param attempt Calls `succeed` when it has done some of its work.
 * @throws The last failure, if there was no success for a minute.
 */
export async function persist(
  attempt: (succeed: () => void) => Promise<void>,
  { log, now, isClosed, onFailure, pause = wait }: Persistence,
): Promise<void> {
  let failingSince: number | undefined;
  const succeed = () => void (failingSince = undefined);
  for (;;) {
    try {
      await attempt(succeed);
    } catch (error) {
      if (isClosed()) return;
      if (failingSince === undefined) log.warn("connection not accepted", errorFields(error));
      failingSince ??= now();
      if (now() - failingSince >= FAILING_MAX_MS) throw error;
      onFailure();
      await pause(RETRY_MS);
    }
  }
}

const wait = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Counts the calls to the engine that break during a job. @module */

import type { EventStream } from "../containers/event_stream.ts";

/** Calls that broke while the engine stayed, from which on they count as failures. */
const BROKEN_MAX = 3;

/** Broken calls of one job: those of other jobs say nothing about it. */
export interface BrokenCalls {
  /**
   * Adds one.
   *
   * @returns Whether calls break again and again although the engine stays, and its events with it.
   */
  add(): boolean;
}

/** @param stepCount Number of steps that have succeeded; each is progress, after which the count begins again. */
export function createBrokenCalls(
  eventStream: Pick<EventStream, "status">,
  stepCount: () => number = () => 0,
): BrokenCalls {
  let last = { breaks: 0, steps: 0, count: 0 };
  return {
    add() {
      const { breaks } = eventStream.status();
      const steps = stepCount();
      const isSame = breaks === last.breaks && steps === last.steps;
      last = { breaks, steps, count: isSame ? last.count + 1 : 1 };
      return last.count >= BROKEN_MAX;
    },
  };
}

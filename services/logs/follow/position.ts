/**
 * Positions in the log of a container.
 *
 * The engine numbers no lines, so a position is the time of a line (in nanoseconds), its stream, and
 * its number among the lines of that stream with the same time. The log is one sequence for both
 * streams, and every read returns it in the same order, even if the clock was set back meanwhile.
 *
 * @module
 */

import type { LogFrame } from "../lines.ts";
import type { Stamp } from "../stamp.ts";

/** Identifies a line of one container's log. */
export interface Position {
  stream: LogFrame["stream"];
  /** Unix seconds. */
  seconds: number;
  nanos: number;
  /** Counts the lines of the stream with this time, from 1. */
  ordinal: number;
}

export function isSamePosition(a: Position, b: Position): boolean {
  return a.nanos === b.nanos && a.seconds === b.seconds && a.stream === b.stream &&
    a.ordinal === b.ordinal;
}

type Time = Pick<Position, "seconds" | "nanos">;

export function isLater(a: Time, b: Time): boolean {
  return (a.seconds - b.seconds || a.nanos - b.nanos) > 0;
}

/**
 * The engine's `since` for a read that contains the line itself: one nanosecond earlier, because
 * Podman excludes the time that it is given.
 */
export function sinceBefore({ seconds, nanos }: Time): string {
  const [s, n] = nanos > 0 ? [seconds, nanos - 1] : [seconds - 1, 999_999_999];
  return `${s}.${String(n).padStart(9, "0")}`;
}

/** Creates a function that returns the positions of the lines of one read, in their order. */
export function createNumbering(): (stream: Position["stream"], stamp: Stamp) => Position {
  const last: Partial<Record<Position["stream"], Position>> = {};
  return (stream, { seconds, nanos }) => {
    const before = last[stream];
    const isRepeated = before !== undefined && before.nanos === nanos && before.seconds === seconds;
    return last[stream] = {
      stream,
      seconds,
      nanos,
      ordinal: isRepeated ? before.ordinal + 1 : 1,
    };
  };
}

/**
 * The last lines of a followed log, to recognize those that the engine sends again: Docker 20.10 does
 * so after the rotation of a log (`max-size`), because it may read the beginning of the new file twice.
 *
 * @module
 */

import type { LogLine } from "./line_reader.ts";
import { isLater, type Position } from "./position.ts";

/** Number of lines that are remembered: more than the engine sends again. */
const REMEMBERED = 4_096;

/** `unclear`: the line equals the last one, so that the log may have it twice. */
type Novelty = "new" | "repeated" | "unclear";

interface RecentLines {
  add(line: LogLine): void;
  /** A line with an earlier time that was not sent before is new: the clock was set back. */
  noveltyOf(line: LogLine): Novelty;
}

export function createRecentLines(): RecentLines {
  const last: Partial<Record<Position["stream"], LogLine>> = {};
  const times = createRing();
  let isRepeating = false;

  return {
    add(line) {
      last[line.position.stream] = line;
      times.add(line.position);
      isRepeating = false;
    },
    noveltyOf({ position, message, timestamp }) {
      const before = last[position.stream];
      // Whole seconds (Podman) do not identify a line.
      const isKnown = before !== undefined && !isLater(position, before.position) &&
        timestamp.includes(".") && times.has(position);
      if (!isKnown) return "new";
      if (isRepeating || isLater(before.position, position)) {
        isRepeating = true;
        return "repeated";
      }
      return message === before.message ? "unclear" : "new";
    },
  };
}

/** The last times. */
function createRing() {
  const seconds = new Uint32Array(REMEMBERED);
  const nanos = new Uint32Array(REMEMBERED);
  let next = 0;
  return {
    add(position: Position): void {
      seconds[next] = position.seconds;
      nanos[next] = position.nanos;
      next = (next + 1) % REMEMBERED;
    },
    has(position: Position): boolean {
      for (let at = nanos.indexOf(position.nanos); at >= 0;) {
        if (seconds[at] === position.seconds) return true;
        at = nanos.indexOf(position.nanos, at + 1);
      }
      return false;
    },
  };
}

/** Lines that wait until the engine has said which run of the container they belong to. @module */

import type { LogLine } from "./line_reader.ts";

/** Size of lines that wait, in characters. */
const HELD_MAX = 1024 * 1024;

/** Size of a line beyond its text. */
const LINE_COST = 128;

interface HeldLines {
  /** @returns Whether they have to be released soon. */
  add(line: LogLine): boolean;
  /** Passes the lines on. */
  release(): void;
}

export function createHeldLines(receive: (line: LogLine) => void): HeldLines {
  let held: LogLine[] = [];
  let size = 0;
  return {
    add(line) {
      held.push(line);
      size += line.message.length + LINE_COST;
      return size > HELD_MAX;
    },
    release() {
      const lines = held;
      held = [];
      size = 0;
      lines.forEach(receive);
    },
  };
}

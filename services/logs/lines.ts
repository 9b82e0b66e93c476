/** Turns the frames of a container's log into lines in order of time. @module */

import { createAssembler, type Line } from "./line_assembler.ts";

/** A piece of a log from the engine. */
export interface LogFrame {
  stream: "stdout" | "stderr";
  bytes: Uint8Array;
}

/** Lines of a log, oldest first, each `RFC3339Nano text`. */
export interface LogLines {
  lines: string[];
  /** Number of frames of both streams; without a terminal, one for each entry. */
  frames: number;
  /** Whether the oldest lines were dropped to stay below the size limit. */
  dropped: boolean;
}

interface LogLinesOptions {
  /** Number of lines to keep, from the end. */
  tail: number;
  /** Streams to read; default both. */
  streams?: readonly LogFrame["stream"][];
  /** Whether the container has a terminal, whose frames may begin and end anywhere. */
  tty?: boolean;
  /** Limit of text held in memory, in bytes; default 32 MiB. The oldest lines are dropped. */
  bytesMax?: number;
}

const BYTES_MAX = 32 * 1024 * 1024;

/**
 * Reads a log that was requested with timestamps. Standard output and standard error are merged by
 * time; lines of the same stream keep their order of arrival. Invalid UTF-8 is replaced, line
 * endings are removed. The engine splits long lines into several entries, each with a timestamp;
 * they are joined and keep the first timestamp.
 */
export async function readLogLines(
  frames: AsyncIterable<LogFrame>,
  { tail, streams = ["stdout", "stderr"], tty = false, bytesMax = BYTES_MAX }: LogLinesOptions,
): Promise<LogLines> {
  const held = createHeldLines(tail, bytesMax);
  const assemblers = {
    stdout: createAssembler(tty, (line) => held.push("stdout", line)),
    stderr: createAssembler(tty, (line) => held.push("stderr", line)),
  };
  let count = 0;
  for await (const { stream, bytes } of frames) {
    count++;
    if (streams.includes(stream)) assemblers[stream].add(bytes);
  }
  for (const stream of streams) assemblers[stream].end();

  const lines = held.merged().slice(-tail).map(({ stamp, text }) => `${stamp.text} ${text}`);
  return { lines, frames: count, dropped: held.dropped && lines.length < tail };
}

/** A line with its position in the order of arrival. */
type HeldLine = Line & { arrival: number };

/**
 * Holds the last `tail` lines of each stream, because the last lines by time may all be of one
 * stream, and at most `bytesMax` bytes of text.
 */
function createHeldLines(tail: number, bytesMax: number) {
  const streams: Record<LogFrame["stream"], HeldLine[]> = { stdout: [], stderr: [] };
  let arrivals = 0;
  let bytes = 0;
  let dropped = false;

  const drop = (lines: HeldLine[]) => void (bytes -= lines.shift()?.bytes ?? 0);
  const older = () => {
    const { stdout: [out], stderr: [err] } = streams;
    return !out || (err && isBefore(err, out)) ? streams.stderr : streams.stdout;
  };

  return {
    get dropped() {
      return dropped;
    },
    push(stream: LogFrame["stream"], line: Line) {
      const lines = streams[stream];
      bytes += line.bytes;
      if (lines.push({ ...line, arrival: arrivals++ }) > tail) drop(lines);
      while (bytes > bytesMax) {
        drop(older());
        dropped = true;
      }
    },
    /** Removes and returns all lines by time; lines of a stream keep their order. */
    merged(): Line[] {
      const lines: Line[] = [];
      for (let next = older().shift(); next; next = older().shift()) lines.push(next);
      return lines;
    },
  };
}

/** Compares by time; lines of the same time by order of arrival. */
const isBefore = ({ stamp: a, arrival }: HeldLine, { stamp: b, arrival: other }: HeldLine) =>
  (a.seconds - b.seconds || a.nanos - b.nanos || arrival - other) < 0;

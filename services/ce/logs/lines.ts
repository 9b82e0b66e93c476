/**
 * Turns the frames of a container's log into lines in order of time.
 *
 * @module
 */

import { AppError } from "../../errors.ts";

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

export interface LogLinesOptions {
  /** Number of lines to keep, from the end. */
  tail: number;
  /** Streams to read; default both. */
  streams?: readonly LogFrame["stream"][];
  /** Whether the container has a terminal, whose frames may begin and end anywhere. */
  tty?: boolean;
  /** Limit of text held in memory, in bytes; default 32 MiB. The oldest lines are dropped. */
  bytesMax?: number;
}

/** Longest text of a line, in bytes of UTF-8; the rest is dropped. */
const LINE_BYTES_MAX = 16 * 1024;

const BYTES_MAX = 32 * 1024 * 1024;

/** Longest timestamp in bytes, with its zone and the space after it. */
const STAMP_BYTES_MAX = 40;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?/;

// A byte order mark is kept as part of the text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
const measure = new Uint8Array(LINE_BYTES_MAX);

interface Line {
  stamp: Stamp;
  text: string;
  /** Length of the text in UTF-8. */
  bytes: number;
}

interface Stamp {
  text: string;
  /** Unix seconds. */
  seconds: number;
  nanos: number;
}

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

/** Assembles the lines of one stream from its frames. */
function createAssembler(tty: boolean, emit: (line: Line) => void) {
  const buffer = new Uint8Array(STAMP_BYTES_MAX + LINE_BYTES_MAX + 1);
  let length = 0;
  let isOpen = false;
  let previous: Line | undefined;

  const append = (bytes: Uint8Array) => {
    isOpen = true;
    const room = bytes.subarray(0, buffer.length - length);
    buffer.set(room, length);
    length += room.length;
  };
  const flush = () => {
    previous = lineFrom(buffer.subarray(0, length), previous);
    emit(previous);
    length = 0;
    isOpen = false;
  };

  return {
    add(bytes: Uint8Array) {
      let from = !tty && isOpen ? leadingStamp(bytes).length : 0;
      for (;;) {
        const end = bytes.indexOf(LINE_FEED, from);
        if (end < 0) break;
        append(bytes.subarray(from, end));
        flush();
        from = end + 1;
      }
      if (from < bytes.length) append(bytes.subarray(from));
    },
    /** Emits a last line without a line feed. */
    end() {
      if (isOpen) flush();
    },
  };
}

/** Parses a line. One without a timestamp gets that of the previous line. */
function lineFrom(bytes: Uint8Array, previous: Line | undefined): Line {
  const { stamp, length } = leadingStamp(bytes);
  let text = bytes.subarray(length);
  if (text.at(-1) === CARRIAGE_RETURN) text = text.subarray(0, -1);
  return { stamp: stamp ?? previous?.stamp ?? NO_TIME, ...clipped(text) };
}

const NO_TIME: Stamp = { text: "1970-01-01T00:00:00Z", seconds: 0, nanos: 0 };

/** At most `LINE_BYTES_MAX` bytes, as whole characters. */
function clipped(bytes: Uint8Array): { text: string; bytes: number } {
  let end = Math.min(bytes.length, LINE_BYTES_MAX);
  if (end < bytes.length) {
    // Do not split a character, which has up to 4 bytes.
    for (let back = 0; back < 4 && (bytes[end]! & 0xc0) === 0x80; back++) end--;
  }
  const text = decoder.decode(bytes.subarray(0, end));
  // The replacement character is longer than the invalid byte.
  const { read, written } = encoder.encodeInto(text, measure);
  return { text: text.slice(0, read), bytes: written };
}

/** The timestamp at the beginning of a line, and its length in bytes with the space after it. */
function leadingStamp(bytes: Uint8Array): { stamp?: Stamp; length: number } {
  const head = String.fromCharCode(...bytes.subarray(0, STAMP_BYTES_MAX));
  const match = STAMP.exec(head);
  if (!match) return { length: 0 };
  const [all, time = "", fraction = "", zone = ""] = match;
  const milliseconds = Date.parse(time + zone);
  if (Number.isNaN(milliseconds)) return { length: 0 };
  const stamp = {
    text: all.trimEnd(),
    seconds: milliseconds / 1000,
    nanos: Number(fraction.padEnd(9, "0")),
  };
  return { stamp, length: all.length };
}

/** A line with its position in the order of arrival. */
type HeldLine = Line & { arrival: number };

/**
 * Holds the last `tail` lines of each stream, because the last lines by time may all be of one
 * stream, and at most `bytesMax` bytes of text.
 */
function createHeldLines(tail: number, bytesMax: number) {
  const streams = { stdout: createFifo<HeldLine>(), stderr: createFifo<HeldLine>() };
  let arrivals = 0;
  let bytes = 0;
  let dropped = false;

  const drop = ({ shift }: { shift(): Line | undefined }) => void (bytes -= shift()?.bytes ?? 0);
  const older = () => {
    const [out, err] = [streams.stdout.peek(), streams.stderr.peek()];
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

/** A queue with constant-time operations. */
function createFifo<Item>() {
  let items: Item[] = [];
  let first = 0;
  return {
    /** @returns The new length. */
    push: (item: Item) => items.push(item) - first,
    peek: (): Item | undefined => items[first],
    shift(): Item | undefined {
      const item = items[first];
      if (item === undefined) return undefined;
      first++;
      if (first > 1_024 && first > items.length / 2) {
        items = items.slice(first);
        first = 0;
      }
      return item;
    },
  };
}

/** Compares by time; lines of the same time by order of arrival. */
const isBefore = ({ stamp: a, arrival }: HeldLine, { stamp: b, arrival: other }: HeldLine) =>
  (a.seconds - b.seconds || a.nanos - b.nanos || arrival - other) < 0;

/** Last second of the year 9999. */
const UNIX_SECONDS_MAX = 253_402_300_799;

const ISO_TIME =
  /^(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9})\d*)?)?(Z|[+-]\d\d(?::?\d\d)?)?)?$/i;

/**
 * Parses a time from a request: ISO 8601 (`2026-01-01`, `2026-01-01T12:00:00.5+01:00`; UTC without a
 * zone), or Unix seconds with or without a fraction.
 *
 * @returns Unix seconds with nine decimal places, the format of the engine.
 * @throws {AppError} `invalid`.
 */
export function parseSince(text: string): string {
  const unix = /^(\d{1,12})(?:\.(\d{1,9})\d*)?$/.exec(text);
  if (unix && Number(unix[1]) <= UNIX_SECONDS_MAX) {
    return `${Number(unix[1])}.${(unix[2] ?? "").padEnd(9, "0")}`;
  }
  const seconds = isoSeconds(text);
  if (seconds === undefined) {
    throw new AppError(
      "invalid",
      "query.since: Expected a time in ISO 8601 (2026-01-31T12:00:00Z) or Unix seconds",
    );
  }
  return seconds;
}

function isoSeconds(text: string): string | undefined {
  const match = ISO_TIME.exec(text);
  if (!match) return undefined;
  const [, year, month, day, hour = "00", minute = "00", second = "00", fraction = ""] = match;
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // `Date` turns 30 February into 2 March.
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return undefined;
  const offset = offsetMinutes(match[8] ?? "Z");
  if (offset === undefined) return undefined;
  const seconds = date.getTime() / 1000 - offset * 60;
  if (seconds < 0 || seconds > UNIX_SECONDS_MAX) return undefined;
  return `${seconds}.${fraction.padEnd(9, "0")}`;
}

function offsetMinutes(zone: string): number | undefined {
  if (zone.toUpperCase() === "Z") return 0;
  const hours = Number(zone.slice(1, 3));
  const minutes = Number(zone.slice(3).replace(":", "") || 0);
  if (hours > 23 || minutes > 59) return undefined;
  return (zone.startsWith("-") ? -1 : 1) * (hours * 60 + minutes);
}

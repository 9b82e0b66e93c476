/** Assembles the lines of a container's log from the frames of one stream. @module */

import { leadingStamp, type Stamp, STAMP_BYTES_MAX } from "./stamp.ts";

/** A line of a log. */
export interface Line {
  stamp: Stamp;
  text: string;
  /** Length of the text in UTF-8. */
  bytes: number;
  /** Whether the end of the line was dropped, because it is longer than 16 KiB. */
  truncated: boolean;
}

/** Longest text of a line, in bytes of UTF-8; the rest is dropped. */
const LINE_BYTES_MAX = 16 * 1024;

/** Length of the pieces in which Docker stores a long line, in bytes. */
const DOCKER_PIECE_BYTES = 16 * 1024;

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

// A byte order mark is kept as part of the text.
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const encoder = new TextEncoder();
const measure = new Uint8Array(LINE_BYTES_MAX);

/** Assembles the lines of one stream from its frames. */
interface LineAssembler {
  add(bytes: Uint8Array): void;
  /** Emits a last line without a line feed. */
  end(): void;
}

/**
 * @param tty Whether frames may begin and end anywhere; otherwise each is one entry.
 * @param isDocker Whether an entry that is not as long as a piece of Docker's is a whole line, also
 * without a line feed, as the last output of a killed program.
 */
export function createAssembler(
  tty: boolean,
  emit: (line: Line) => void,
  isDocker = false,
): LineAssembler {
  const buffer = new Uint8Array(STAMP_BYTES_MAX + LINE_BYTES_MAX + 1);
  let length = 0;
  let isOpen = false;
  let isCutByDocker = false;
  let previous: Line | undefined;

  const append = (bytes: Uint8Array) => {
    isOpen = true;
    const room = bytes.subarray(0, buffer.length - length);
    buffer.set(room, length);
    length += room.length;
  };
  const flush = (isUnfinished = false) => {
    const line = lineFrom(buffer.subarray(0, length), previous);
    previous = isUnfinished ? { ...line, truncated: true } : line;
    emit(previous);
    length = 0;
    isOpen = false;
    isCutByDocker = false;
  };

  return {
    add(bytes) {
      const continues = !tty && isOpen;
      const entry = continues ? leadingStamp(bytes).length : 0;
      let from = entry;
      for (;;) {
        const end = bytes.indexOf(LINE_FEED, from);
        if (end < 0) break;
        append(bytes.subarray(from, end));
        flush();
        from = end + 1;
      }
      if (from === bytes.length) return;
      append(bytes.subarray(from));
      if (tty) return;
      // Docker's driver "local" drops the line feed of a line that it stored in pieces.
      const length = bytes.length - (continues ? entry : leadingStamp(bytes).length);
      const isRest = isDocker || (isCutByDocker && continues);
      if (isRest && length < DOCKER_PIECE_BYTES) flush();
      else isCutByDocker = length === DOCKER_PIECE_BYTES;
    },
    end() {
      // Docker is about to store the rest, all of which is beyond the limit.
      if (isOpen) flush(isDocker && isCutByDocker);
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
function clipped(bytes: Uint8Array): Omit<Line, "stamp"> {
  const truncated = bytes.length > LINE_BYTES_MAX;
  let end = Math.min(bytes.length, LINE_BYTES_MAX);
  if (end < bytes.length) {
    // Do not split a character, which has up to 4 bytes.
    for (let back = 0; back < 4 && (bytes[end]! & 0xc0) === 0x80; back++) end--;
  }
  const text = decoder.decode(bytes.subarray(0, end));
  // As many characters as bytes, none of which is a replacement: ASCII.
  if (text.length === end && !text.includes("\ufffd")) return { text, bytes: end, truncated };
  // The replacement character is longer than the invalid byte.
  const { read, written } = encoder.encodeInto(text, measure);
  return { text: text.slice(0, read), bytes: written, truncated };
}

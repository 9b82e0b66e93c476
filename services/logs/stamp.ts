/** Timestamps of the engine in logs. @module */

/** A timestamp of the engine. */
export interface Stamp {
  /** As the engine wrote it: RFC 3339 with up to nine decimal places. */
  text: string;
  /** Unix seconds. */
  seconds: number;
  nanos: number;
}

/** Longest timestamp in bytes, with its zone and the space after it. */
export const STAMP_BYTES_MAX = 40;

const STAMP = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ?/;

const encoder = new TextEncoder();

/** The timestamp at the beginning of a line, and its length in bytes with the space after it. */
export function leadingStamp(bytes: Uint8Array): { stamp?: Stamp; length: number } {
  const stamp = dockerStamp(bytes);
  if (stamp) return { stamp, length: DOCKER_STAMP_BYTES + 1 };
  const head = String.fromCharCode(...bytes.subarray(0, STAMP_BYTES_MAX));
  const match = STAMP.exec(head);
  if (!match) return { length: 0 };
  const [all, time = "", fraction = "", zone = ""] = match;
  const milliseconds = Date.parse(time + zone);
  if (Number.isNaN(milliseconds)) return { length: 0 };
  return {
    stamp: {
      text: all.trimEnd(),
      seconds: milliseconds / 1000,
      nanos: Number(fraction.padEnd(9, "0")),
    },
    length: all.length,
  };
}

/** Parses a timestamp of the engine; `undefined` if it is none. */
export const parseStamp = (text: string): Stamp | undefined =>
  leadingStamp(encoder.encode(text)).stamp;

/** Length of Docker's timestamps: `2026-01-31T12:00:00.123456789Z`. */
const DOCKER_STAMP_BYTES = 30;

/** Length of the part up to the seconds. */
const SECONDS_BYTES = 19;

const SPACE = 32;
const POINT = 46;
const DIGIT_0 = 48;
const LETTER_Z = 90;

/** The last parsed part up to the seconds, because most lines have the same as the line before. */
const lastSeconds = { bytes: new Uint8Array(SECONDS_BYTES), text: "", seconds: NaN };

/** A timestamp in Docker's format, which is parsed without a regular expression; else undefined. */
function dockerStamp(bytes: Uint8Array): Stamp | undefined {
  if (
    bytes[DOCKER_STAMP_BYTES] !== SPACE || bytes[DOCKER_STAMP_BYTES - 1] !== LETTER_Z ||
    bytes[SECONDS_BYTES] !== POINT
  ) return undefined;
  let nanos = 0;
  // Digit by digit: the runtime caches the text of each number, and those of all lines fill the heap.
  let fraction = "";
  for (let at = SECONDS_BYTES + 1; at < DOCKER_STAMP_BYTES - 1; at++) {
    const digit = bytes[at]! - DIGIT_0;
    if (digit < 0 || digit > 9) return undefined;
    nanos = nanos * 10 + digit;
    fraction += digit;
  }
  if (!isLastSeconds(bytes)) {
    const text = String.fromCharCode(...bytes.subarray(0, SECONDS_BYTES));
    if (!STAMP.test(`${text}Z`)) return undefined;
    lastSeconds.bytes.set(bytes.subarray(0, SECONDS_BYTES));
    lastSeconds.text = text;
    lastSeconds.seconds = Date.parse(`${text}Z`) / 1000;
  }
  const { text, seconds } = lastSeconds;
  if (Number.isNaN(seconds)) return undefined;
  return { text: `${text}.${fraction}Z`, seconds, nanos };
}

function isLastSeconds(bytes: Uint8Array): boolean {
  for (let at = SECONDS_BYTES - 1; at >= 0; at--) {
    if (bytes[at] !== lastSeconds.bytes[at]) return false;
  }
  return true;
}

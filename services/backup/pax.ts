/**
 * Extended headers of tar archives (POSIX.1-2001, "pax"): records that replace fields of the header
 * after them. Texts have a character for each byte, because names of files are bytes.
 *
 * @module
 */

import { Buffer } from "node:buffer";
import { encodeTarHeader, TarError, tarPadding } from "./tar.ts";

/** Values by keyword, e.g. `path`. */
export type PaxRecords = Map<string, string>;

/** Type of a header whose records are for the next header, and of one for all that follow. */
export const PAX_NEXT = "x";
export const PAX_GLOBAL = "g";

/**
 * Decodes records of the form `length keyword=value\n`.
 *
 * @throws {TarError} If they are damaged.
 */
export function decodePax(bytes: Uint8Array): PaxRecords {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("latin1");
  const records: PaxRecords = new Map();
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(" ", at);
    const digits = text.slice(at, space);
    const end = at + Number(digits);
    const equals = text.indexOf("=", space);
    const isRecord = space > at && /^\d{1,9}$/.test(digits) && end <= text.length &&
      equals > space && equals < end && text[end - 1] === "\n";
    if (!isRecord) throw new TarError("an extended header is damaged");
    records.set(text.slice(space + 1, equals), text.slice(equals + 1, end - 1));
    at = end;
  }
  return records;
}

/** Encodes records as a header with its content. */
export function encodePax(records: PaxRecords): Uint8Array<ArrayBuffer> {
  const content = [...records].map(([keyword, value]) => encodeRecord(keyword, value)).join("");
  const header = encodeTarHeader({ name: "pax", type: PAX_NEXT, size: content.length });
  const bytes = new Uint8Array(header.length + content.length + tarPadding(content.length));
  bytes.set(header);
  bytes.set(Buffer.from(content, "latin1"), header.length);
  return bytes;
}

/** The length counts its own digits. */
function encodeRecord(keyword: string, value: string): string {
  const rest = ` ${keyword}=${value}\n`;
  let length = rest.length;
  while (length !== rest.length + String(length).length) {
    length = rest.length + String(length).length;
  }
  return `${length}${rest}`;
}

const NS_PER_S = 1_000_000_000n;

/**
 * Reads decimal seconds.
 *
 * @returns Nanoseconds; further digits are cut.
 * @throws {TarError}
 */
export function parsePaxTime(text: string): bigint {
  const [, sign, seconds, fraction = ""] = /^(-?)(\d{1,15})(?:\.(\d*))?$/.exec(text) ?? [];
  if (seconds === undefined) throw new TarError("a time is not a number");
  const value = BigInt(seconds) * NS_PER_S + BigInt(fraction.slice(0, 9).padEnd(9, "0"));
  return sign === "-" ? -value : value;
}

/** @param time Nanoseconds since 1970. */
export function formatPaxTime(time: bigint): string {
  const size = time < 0n ? -time : time;
  const fraction = String(size % NS_PER_S).padStart(9, "0");
  return `${time < 0n ? "-" : ""}${size / NS_PER_S}.${fraction}`;
}

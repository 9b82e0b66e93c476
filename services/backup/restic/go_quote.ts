/**
 * Names of files as restic writes them: `strconv.Quote` and `Unquote` of Go without the quotation
 * marks, so that JSON can have names that are not UTF-8 (https://pkg.go.dev/strconv#Quote).
 *
 * @module
 */

import type { ByteString } from "./entry.ts";
import { bytesOf } from "./entry_directory.ts";

/** Letter of each escape, by the byte. */
const ESCAPES: Record<number, string> = {
  0x07: "\\a",
  0x08: "\\b",
  0x09: "\\t",
  0x0a: "\\n",
  0x0b: "\\v",
  0x0c: "\\f",
  0x0d: "\\r",
  0x22: '\\"',
  0x5c: "\\\\",
};

const BYTES = new Map(Object.entries(ESCAPES).map(([byte, text]) => [text[1]!, Number(byte)]));

/** Characters that Go's `IsPrint` keeps. */
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Names without a byte to escape. */
const PLAIN = /^[ !#-[\]-~]*$/;

/** Quotes a name of any bytes. */
export function quote(name: ByteString): string {
  if (PLAIN.test(name)) return name;
  let quoted = "";
  for (const { text, byte } of characters(name)) {
    if (text === undefined) quoted += `\\x${hex(byte, 2)}`;
    else quoted += ESCAPES[text.codePointAt(0)!] ?? quoteCharacter(text);
  }
  return quoted;
}

function quoteCharacter(text: string): string {
  const point = text.codePointAt(0)!;
  if (PRINTABLE.test(text)) return text;
  if (point < 0x20 || point === 0x7f) return `\\x${hex(point, 2)}`;
  return point > 0xffff ? `\\U${hex(point, 8)}` : `\\u${hex(point, 4)}`;
}

const hex = (value: number, digits: number) => value.toString(16).padStart(digits, "0");

/** Characters of UTF-8, and the bytes that are none. */
function* characters(name: ByteString): Generator<{ text?: string; byte: number }> {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  for (let start = 0; start < name.length;) {
    const byte = name.charCodeAt(start);
    const length = byte < 0x80 ? 1 : byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    const bytes = Uint8Array.from(name.slice(start, start + length), (c) => c.charCodeAt(0));
    let text: string | undefined;
    try {
      text = decoder.decode(bytes);
    } catch {
      text = undefined;
    }
    yield text === undefined ? { byte } : { text, byte };
    start += text === undefined ? 1 : length;
  }
}

/** A quoted name: an escape, or characters without one. */
const PART =
  /\\(?:([abfnrtv\\"])|x([0-9a-fA-F]{2})|([0-3][0-7]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([^\\"\n]+)/y;

/** @returns `undefined` for a text that Go would not unquote. */
export function unquote(quoted: string): ByteString | undefined {
  if (PLAIN.test(quoted)) return quoted;
  let name = "";
  PART.lastIndex = 0;
  while (PART.lastIndex < quoted.length) {
    const [, letter, byte, octal, short, long, plain] = PART.exec(quoted) ?? [""];
    const point = short ?? long;
    if (letter !== undefined) name += String.fromCharCode(BYTES.get(letter)!);
    else if (byte !== undefined) name += String.fromCharCode(Number.parseInt(byte, 16));
    else if (octal !== undefined) name += String.fromCharCode(Number.parseInt(octal, 8));
    else if (point !== undefined) {
      const value = Number.parseInt(point, 16);
      if (value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return undefined;
      name += bytesOf(String.fromCodePoint(value));
    } else if (plain !== undefined) name += bytesOf(plain);
    else return undefined;
  }
  return name;
}

/** Text of bytes in UTF-8; `undefined` if they are not. */
export function fromUtf8(bytes: ByteString): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(toBytes(bytes));
  } catch {
    return undefined;
  }
}

/** Bytes of a byte string. */
export const toBytes = (text: ByteString): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(text, (character) => character.charCodeAt(0));

const PIECE = 8_192;

/** Byte string of bytes. */
export function latin1(bytes: Uint8Array): ByteString {
  let text = "";
  for (let start = 0; start < bytes.length; start += PIECE) {
    text += String.fromCharCode(...bytes.subarray(start, start + PIECE));
  }
  return text;
}

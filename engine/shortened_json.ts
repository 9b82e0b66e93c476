/**
 * Shortens JSON while it is received. An image's author or a container's creator may choose labels and
 * other texts of any number and length, and one object must not make the list of all unreadable.
 *
 * @module
 */

import { EngineProtocolError } from "./errors.ts";

/** Limits of a JSON text, in bytes. */
export interface JsonLimits {
  /** Longest JSON that is kept as it is; the others apply to longer ones. */
  whole: number;
  /** Longest text, with escapes. */
  text: number;
  /** Texts of one object or array with their names in all; and of its kept ones besides. */
  texts: number;
}

/** Limits of a list: 2,000 usual containers are kept as they are. */
export const LIST_LIMITS: JsonLimits = { whole: 4 * 1024 * 1024, text: 1_024, texts: 32 * 1024 };

/** Limits of one object: many published ports with a certificate in a variable are kept. */
export const OBJECT_LIMITS: JsonLimits = {
  whole: 1024 * 1024,
  text: 64 * 1024,
  texts: 256 * 1024,
};

/** Limits of one of many objects that are kept in memory: usual containers are kept as they are. */
export const KEPT_LIMITS: JsonLimits = { whole: 64 * 1024, text: 8 * 1024, texts: 32 * 1024 };

/** Beginnings of the names of labels that say what a container belongs to. */
const KEPT_NAMES = ["com.docker.compose.", "com.docker.stack.", "com.docker.swarm.", "longshore."];

/** Longest JSON, received and shortened, in bytes. */
const RECEIVED_MAX = 1024 * 1024 * 1024;
const SHORTENED_MAX = 64 * 1024 * 1024;

/** Objects and arrays within each other. */
const DEPTH_MAX = 64;

/** An object of the engine, of which a part may be missing. */
export interface Shortened {
  /** Not of the engine: long texts were cut, or left out. */
  Truncated?: true;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const BACKSLASH = 0x5c;
const SMALL_U = 0x75;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

const ELLIPSIS = encoder.encode("…");
const MARK = encoder.encode('"Truncated":true');
const KEPT = KEPT_NAMES.map((name) => encoder.encode(`"${name}`));

/** An object or array whose end has not been received. */
interface Part {
  isArray: boolean;
  /** Position of its current member or element, after the comma. */
  memberAt: number;
  /** Whether the current member, and its value, have begun. */
  hasMember: boolean;
  hasValue: boolean;
  isText: boolean;
  isEmpty: boolean;
  /** Bytes of its texts, and of those whose names are kept. */
  texts: number;
  keptTexts: number;
  isTruncated: boolean;
}

/** Collects JSON in pieces. Long texts are cut, and those beyond the limit of an object left out. */
export class JsonShortener {
  readonly #limits: JsonLimits;
  #bytes = new Uint8Array(64 * 1024);
  #length = 0;
  #received = 0;
  readonly #parts: Part[] = [];
  #inText = false;
  #isEscaped = false;
  #textAt = 0;
  #isDone = false;

  constructor(limits: JsonLimits) {
    this.#limits = limits;
  }

  /** @throws {EngineProtocolError} For what is not JSON, above 1 GiB, and if 64 MiB of it would be kept. */
  write(chunk: Uint8Array): void {
    this.#received += chunk.length;
    if (this.#received > RECEIVED_MAX) throw tooLarge(RECEIVED_MAX);
    for (let at = 0; at < chunk.length; at++) {
      if (this.#inText && !this.#isEscaped && this.#isLongText) at = textEnd(chunk, at);
      const byte = chunk[at]!;
      if (this.#inText) this.#writeText(byte);
      else if (byte > 0x20) this.#writeToken(byte);
    }
  }

  /** The value. @throws {EngineProtocolError} If the text is incomplete or not JSON. */
  end<T>(): T {
    if (!this.#isDone) throw malformed();
    try {
      return JSON.parse(decoder.decode(this.#bytes.subarray(0, this.#length)));
    } catch (cause) {
      throw malformed(cause);
    }
  }

  #writeText(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (byte === BACKSLASH) this.#isEscaped = true;
    else if (byte === QUOTE) return this.#endText();
    // One more shows that the text is too long.
    if (!this.#isLongText) this.#push(byte);
  }

  #endText(): void {
    this.#inText = false;
    if (this.#isLongText) {
      this.#length = lastBoundary(this.#bytes, this.#textAt, this.#textAt + this.#limits.text);
      for (const byte of ELLIPSIS) this.#push(byte);
      this.#part.isTruncated = true;
    }
    this.#push(QUOTE);
  }

  #writeToken(byte: number): void {
    if (byte === CLOSE || byte === CLOSE_ARRAY) return this.#close(byte);
    if (this.#isDone) throw malformed();
    if (byte === COMMA) return this.#endMember();
    if (this.#parts.length > 0) this.#beginMember(byte);
    else if (byte !== OPEN && byte !== OPEN_ARRAY) throw malformed();
    this.#push(byte);
    if (byte === QUOTE) {
      this.#inText = true;
      this.#textAt = this.#length;
    } else if (byte === OPEN || byte === OPEN_ARRAY) {
      if (this.#parts.length === DEPTH_MAX) throw malformed();
      this.#parts.push(newPart(byte === OPEN_ARRAY));
    }
  }

  #beginMember(byte: number): void {
    const part = this.#part;
    if (!part.hasMember) {
      if (!part.isEmpty) this.#push(COMMA);
      part.memberAt = this.#length;
      part.hasMember = true;
      part.hasValue = part.isArray;
      part.isText = part.isArray && byte === QUOTE;
    } else if (byte === COLON) part.hasValue = true;
    else if (byte === QUOTE && part.hasValue) part.isText = true;
  }

  #endMember(): void {
    const part = this.#part;
    if (!part.hasMember) return;
    part.hasMember = false;
    if (this.#hasRoom(part)) part.isEmpty = false;
    else {
      this.#length = part.isEmpty ? part.memberAt : part.memberAt - 1;
      part.isTruncated = true;
    }
  }

  /** Counts a text with its name. Other values are few, or short. */
  #hasRoom(part: Part): boolean {
    const size = this.#length - part.memberAt;
    const max = this.#limits.texts;
    if (!part.isText) return true;
    if (part.texts + size <= max) part.texts += size;
    else if (part.keptTexts + size <= max && this.#isKept(part)) part.keptTexts += size;
    else return false;
    return true;
  }

  #isKept({ memberAt }: Part): boolean {
    return KEPT.some((name) => name.every((byte, at) => this.#bytes[memberAt + at] === byte));
  }

  #close(byte: number): void {
    const part = this.#parts.at(-1);
    if (!part || part.isArray !== (byte === CLOSE_ARRAY)) throw malformed();
    this.#endMember();
    this.#parts.pop();
    const outer = this.#parts.at(-1);
    if (part.isTruncated) {
      if (outer) outer.isTruncated = true;
      if (!part.isArray && (!outer || outer.isArray)) this.#mark(part);
    }
    this.#push(byte);
    this.#isDone = !outer;
  }

  /** Marks the whole, and each element of an array; not e.g. labels, whose names are those of users. */
  #mark({ isEmpty }: Part): void {
    if (!isEmpty) this.#push(COMMA);
    for (const byte of MARK) this.#push(byte);
  }

  get #isLongText(): boolean {
    return this.#length - this.#textAt > this.#limits.text;
  }

  get #part(): Part {
    const part = this.#parts.at(-1);
    if (!part) throw malformed();
    return part;
  }

  #push(byte: number): void {
    if (this.#length === this.#bytes.length) {
      if (this.#length >= SHORTENED_MAX) throw tooLarge(SHORTENED_MAX);
      const larger = new Uint8Array(2 * this.#length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.#bytes[this.#length++] = byte;
  }
}

const newPart = (isArray: boolean): Part => ({
  isArray,
  memberAt: 0,
  hasMember: false,
  hasValue: false,
  isText: false,
  isEmpty: true,
  texts: 0,
  keptTexts: 0,
  isTruncated: false,
});

/** The next byte that ends a text, or escapes another; the last one if there is none. */
function textEnd(chunk: Uint8Array, from: number): number {
  let at = from;
  while (at < chunk.length - 1 && chunk[at] !== QUOTE && chunk[at] !== BACKSLASH) at++;
  return at;
}

/** The end of the last character that ends at `max` or before. */
function lastBoundary(bytes: Uint8Array, start: number, max: number): number {
  let at = start;
  for (;;) {
    const next = at + unitLength(bytes, at);
    if (next > max) return at;
    at = next;
  }
}

/** Bytes of the character or escape at a position. */
function unitLength(bytes: Uint8Array, at: number): number {
  const byte = bytes[at]!;
  if (byte === BACKSLASH) return bytes[at + 1] === SMALL_U ? 6 : 2;
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

const malformed = (cause?: unknown) =>
  new EngineProtocolError("The container engine sent a response that is not JSON", { cause });

const tooLarge = (max: number) =>
  new EngineProtocolError(`The container engine sent a response of more than ${max} bytes`);

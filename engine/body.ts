/**
 * Bodies of answers: of known length, in chunks, or until the connection ends (RFC 9112, section 6).
 *
 * @module
 */

import { type ByteReader, EndOfSourceError } from "./byte_reader.ts";
import { EngineProtocolError } from "./errors.ts";

/** How the end of a body is found; a number is its length in bytes. */
export type Framing = number | "chunked" | "until close";

/** Longest line with a chunk's size; extensions are allowed, but nobody sends them. */
const SIZE_LINE_MAX = 256;

/** Most lines, and bytes of a line, after the last chunk. */
const TRAILERS_MAX = 64;
const TRAILER_LINE_MAX = 8 * 1024;

/** 13 hexadecimal digits are below 2^53. */
const CHUNK_SIZE = /^([0-9A-Fa-f]{1,13})[ \t]*(?:;.*)?$/;

/**
 * How the body of an answer is framed.
 *
 * @throws {EngineProtocolError} When the headers do not say it plainly. Length and chunks at the
 * same time are refused: the end would be a matter of opinion.
 */
export function framing(
  method: string,
  status: number,
  headers: ReadonlyMap<string, string>,
): Framing {
  if (method === "HEAD" || status < 200 || status === 204 || status === 304) return 0;
  const coding = headers.get("transfer-encoding");
  const length = headers.get("content-length");
  if (coding !== undefined) {
    if (coding.toLowerCase() !== "chunked" || length !== undefined) {
      throw new EngineProtocolError(
        `The container engine sent an answer in an unknown form (${coding.slice(0, 100)})`,
      );
    }
    return "chunked";
  }
  if (length === undefined) return "until close";
  if (!/^\d{1,15}$/.test(length)) {
    throw new EngineProtocolError(
      `The container engine sent an answer with an unusable length (${length.slice(0, 100)})`,
    );
  }
  return Number(length);
}

/** Reads one body; what follows it on the connection is left there. */
export class Body {
  readonly #reader: ByteReader;
  readonly #chunked: boolean;
  #done: boolean;
  /** Bytes that are left of the body, or of the chunk. */
  #left: number;
  #isFirstChunk = true;

  constructor(reader: ByteReader, framed: Framing) {
    this.#reader = reader;
    this.#chunked = framed === "chunked";
    this.#left = framed === "chunked" ? 0 : framed === "until close" ? Infinity : framed;
    this.#done = framed === 0;
  }

  /** Whether the body was read to its end. */
  get done(): boolean {
    return this.#done;
  }

  /** Bytes that are known to come yet; 0 where nothing is known. */
  get expected(): number {
    return Number.isFinite(this.#left) ? this.#left : 0;
  }

  /** Whether there is more; only a body until the end of the connection may err about it. */
  async hasMore(): Promise<boolean> {
    if (this.#left === 0 && !this.#done) await this.#nextChunk();
    return !this.#done;
  }

  /**
   * The next piece; undefined at the end. The bytes are good until the next call.
   *
   * @throws {EndOfSourceError} When the connection ends before the body.
   * @throws {EngineProtocolError} For a malformed chunk.
   */
  async some(): Promise<Uint8Array | undefined> {
    if (!await this.hasMore()) return undefined;
    const bytes = await this.#reader.some(this.#left);
    this.#took(bytes?.length ?? 0);
    return bytes;
  }

  /** As `some()`, but copied to the front of `target`; answers how many, 0 at the end. */
  async someInto(target: Uint8Array): Promise<number> {
    if (!await this.hasMore()) return 0;
    const room = this.#left < target.length ? target.subarray(0, this.#left) : target;
    const count = await this.#reader.someInto(room);
    await this.#took(count);
    return count;
  }

  #took(count: number): void {
    if (count > 0) {
      this.#left -= count;
      this.#done = this.#left === 0 && !this.#chunked;
    } else if (this.#left === Infinity) {
      this.#done = true;
    } else {
      throw new EndOfSourceError("the connection ended within a body");
    }
  }

  async #nextChunk(): Promise<void> {
    if (!this.#isFirstChunk && await this.#reader.line(0) !== "") throw malformed();
    this.#isFirstChunk = false;
    const size = CHUNK_SIZE.exec(await this.#reader.line(SIZE_LINE_MAX))?.[1];
    if (size === undefined) throw malformed();
    this.#left = parseInt(size, 16);
    if (this.#left > 0) return;

    for (let lines = 0; await this.#reader.line(TRAILER_LINE_MAX) !== ""; lines++) {
      if (lines === TRAILERS_MAX) throw malformed();
    }
    this.#done = true;
  }
}

/** What is set aside for a body at first; then never more than twice of what has come. */
const CAPACITY = 64 * 1024;

/** What is set aside where nothing is known about the length. */
const CAPACITY_MIN = 4 * 1024;

/**
 * The rest of a body as a whole.
 *
 * @throws {EngineProtocolError} For more than `max` bytes.
 */
export async function whole(body: Body, max: number): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array(0);
  let length = 0;
  while (await body.hasMore()) {
    if (length + body.expected > max) {
      throw new EngineProtocolError(
        `The container engine sent an answer of more than the ${max} bytes allowed`,
      );
    }
    if (length === bytes.length) {
      const wanted = body.expected || Math.max(length, CAPACITY_MIN);
      bytes = resized(bytes, length + Math.min(wanted, Math.max(length, CAPACITY)));
    }
    length += await body.someInto(bytes.subarray(length));
  }
  return bytes.subarray(0, length);
}

function resized(bytes: Uint8Array, capacity: number): Uint8Array {
  const larger = new Uint8Array(capacity);
  larger.set(bytes);
  return larger;
}

const malformed = () => new EngineProtocolError("The container engine sent a malformed chunk");

/**
 * Bodies of responses: of known length, in chunks, or until the connection ends (RFC 9112, section
 * 6).
 *
 * @module
 */

import { type ByteReader, EndOfSourceError } from "./byte_reader.ts";
import { EngineProtocolError } from "./errors.ts";

/** Rule for the end of a body; a number is its length in bytes. */
export type Framing = number | "chunked" | "until close";

/** Maximum length of a line with a chunk's size, which may have extensions. */
const SIZE_LINE_MAX = 256;

/** Maximum number and length of lines after the last chunk. */
const TRAILERS_MAX = 64;
const TRAILER_LINE_MAX = 8 * 1024;

/** Up to 13 hexadecimal digits, which are below 2^53. */
const CHUNK_SIZE = /^([0-9A-Fa-f]{1,13})[ \t]*(?:;.*)?$/;

/**
 * Determines how the body of a response is framed.
 *
 * @throws {EngineProtocolError} If the headers are ambiguous, e.g. give both a length and chunks.
 */
export function findFraming(
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
        `The container engine sent a response with an unsupported transfer encoding (${
          coding.slice(0, 100)
        })`,
      );
    }
    return "chunked";
  }
  if (length === undefined) return "until close";
  if (!/^\d{1,15}$/.test(length)) {
    throw new EngineProtocolError(
      `The container engine sent a response with an invalid length (${length.slice(0, 100)})`,
    );
  }
  return Number(length);
}

const ZERO = 0x30;

/** Reads one body, and leaves the bytes after it on the connection. */
export class Body {
  readonly #reader: ByteReader;
  readonly #isChunked: boolean;
  #isDone: boolean;
  /** Remaining bytes of the body or the chunk. */
  #left: number;
  /** Whether the line end after the data of the last chunk is still to be read. */
  #isInChunk = false;

  constructor(reader: ByteReader, framed: Framing) {
    this.#reader = reader;
    this.#isChunked = framed === "chunked";
    this.#left = framed === "chunked" ? 0 : framed === "until close" ? Infinity : framed;
    this.#isDone = framed === 0;
  }

  /** Whether the body was read in full. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Bytes that are known to follow; 0 if unknown. */
  get expected(): number {
    return Number.isFinite(this.#left) ? this.#left : 0;
  }

  /** Whether there may be more. Exact except for a body that ends with the connection. */
  async hasMore(): Promise<boolean> {
    if (this.#left === 0 && !this.#isDone) await this.#nextChunk();
    return !this.#isDone;
  }

  /**
   * The next piece; undefined at the end. The bytes are valid until the next call.
   *
   * @throws {EndOfSourceError} If the connection ends before the body.
   * @throws {EngineProtocolError} For a malformed chunk.
   */
  async readSome(): Promise<Uint8Array | undefined> {
    if (!await this.hasMore()) return undefined;
    const bytes = await this.#reader.readSome(this.#left);
    this.#advance(bytes?.length ?? 0);
    return bytes;
  }

  /** Like `readSome()`, but into the start of `target`. @returns Number of bytes; 0 at the end. */
  async readInto(target: Uint8Array): Promise<number> {
    if (!await this.hasMore()) return 0;
    const room = this.#left < target.length ? target.subarray(0, this.#left) : target;
    const count = await this.#reader.readInto(room);
    this.#advance(count);
    return count;
  }

  /**
   * Like `readSome()`, but joins the chunks that have been received to a copy of up to 64 KiB: the
   * engine sends each line of a log as a chunk.
   */
  async readChunks(): Promise<Uint8Array | undefined> {
    const first = await this.readSome();
    if (!first || !this.#isChunked || this.#reader.buffered === 0) return first?.slice();
    const joined = new Uint8Array(Math.min(first.length + this.#reader.buffered, CAPACITY));
    joined.set(first.subarray(0, joined.length));
    let length = first.length;
    while (length < joined.length && this.#enterBufferedChunk()) {
      const room = Math.min(joined.length - length, this.#left, this.#reader.buffered);
      if (room === 0) break;
      const bytes = this.#reader.takeBuffered(room);
      joined.set(bytes, length);
      length += bytes.length;
      this.#advance(bytes.length);
    }
    return joined.subarray(0, length);
  }

  /** Whether more data of a chunk follows, as far as that is buffered. */
  #enterBufferedChunk(): boolean {
    if (this.#left > 0) return true;
    if (this.#isInChunk) {
      const end = this.#reader.bufferedLine(0);
      if (end === undefined) return false;
      this.#isInChunk = false;
    }
    // The last chunk has size 0; it is left to `hasMore()`, which reads the lines after it.
    if (this.#reader.bufferedByte === ZERO) return false;
    const size = this.#reader.bufferedLine(SIZE_LINE_MAX);
    return size !== undefined && this.#beginChunk(size);
  }

  #beginChunk(line: string): boolean {
    const size = CHUNK_SIZE.exec(line)?.[1];
    if (size === undefined) throw malformedChunk();
    this.#left = parseInt(size, 16);
    this.#isInChunk = true;
    return this.#left > 0;
  }

  #advance(count: number): void {
    if (count > 0) {
      this.#left -= count;
      this.#isDone = this.#left === 0 && !this.#isChunked;
    } else if (this.#left === Infinity) {
      this.#isDone = true;
    } else {
      throw new EndOfSourceError("the connection ended within a body");
    }
  }

  async #nextChunk(): Promise<void> {
    if (this.#isInChunk && await this.#reader.readLine(0) !== "") throw malformedChunk();
    this.#isInChunk = false;
    this.#beginChunk(await this.#reader.readLine(SIZE_LINE_MAX));
    if (this.#left > 0) return;

    for (let lines = 0; await this.#reader.readLine(TRAILER_LINE_MAX) !== ""; lines++) {
      if (lines === TRAILERS_MAX) throw malformedChunk();
    }
    this.#isDone = true;
  }
}

/** Initial buffer of a body; later at most twice the bytes received. */
const CAPACITY = 64 * 1024;

/** Initial buffer if the length is unknown. */
const CAPACITY_MIN = 4 * 1024;

/**
 * Reads the rest of a body.
 *
 * @throws {EngineProtocolError} For more than `max` bytes.
 */
export async function readWhole(body: Body, max: number): Promise<Uint8Array> {
  const bytes = await readBeginning(body, max);
  if (body.isDone) return bytes;
  throw new EngineProtocolError(`The container engine sent a response of more than ${max} bytes`);
}

/** Reads a body until its end, or until more than `max` bytes are known to follow. */
export async function readBeginning(body: Body, max: number): Promise<Uint8Array> {
  let bytes: Uint8Array = new Uint8Array(0);
  let length = 0;
  while (await body.hasMore()) {
    if (length + body.expected > max) break;
    if (length === bytes.length) {
      const needed = body.expected || Math.max(length, CAPACITY_MIN);
      bytes = resize(bytes, length + Math.min(needed, Math.max(length, CAPACITY)));
    }
    length += await body.readInto(bytes.subarray(length));
  }
  return bytes.subarray(0, length);
}

function resize(bytes: Uint8Array, capacity: number): Uint8Array {
  const larger = new Uint8Array(capacity);
  larger.set(bytes);
  return larger;
}

const malformedChunk = () => new EngineProtocolError("The container engine sent a malformed chunk");

/**
 * Heads, lines and byte counts from a connection.
 *
 * @module
 */

import { EngineProtocolError } from "./errors.ts";

/** Where the bytes come from, e.g. a `Deno.Conn`. */
export interface ByteSource {
  /** Reads at least one byte into the front of `into`; null at the end. */
  read(into: Uint8Array): Promise<number | null>;
}

/** The source ended, or broke, where more was expected. */
export class EndOfSourceError extends Error {
  override readonly name = "EndOfSourceError";
}

/** Bytes of the buffer, and with it the longest head. */
export const BUFFER_LENGTH = 64 * 1024;

const CR = 13;
const LF = 10;

const decoder = new TextDecoder();

/** Buffers what a source gives, so that it can be taken in the pieces that the protocol has. */
export class ByteReader {
  readonly #source: ByteSource;
  // Made at the first read: a connection that never answers needs none.
  #buffer: Uint8Array<ArrayBuffer> = NO_BYTES;
  #start = 0;
  #end = 0;
  #received = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** Bytes that have come, but are not taken yet. */
  get buffered(): number {
    return this.#end - this.#start;
  }

  /** Bytes that have come since the beginning. */
  get received(): number {
    return this.#received;
  }

  /**
   * The head of a message, without the empty line that ends it.
   *
   * @throws {EngineProtocolError} For a head above 64 KiB.
   * @throws {EndOfSourceError}
   */
  async head(): Promise<string> {
    // Number of bytes from the start that cannot hold the end, so that nothing is looked at twice.
    for (let seen = 0;;) {
      const buffer = this.#buffer;
      for (let at = this.#start + seen; at + 3 < this.#end; at++) {
        if (
          buffer[at] === CR && buffer[at + 1] === LF && buffer[at + 2] === CR &&
          buffer[at + 3] === LF
        ) {
          const text = decoder.decode(buffer.subarray(this.#start, at));
          this.#start = at + 4;
          return text;
        }
      }
      seen = Math.max(0, this.buffered - 3);
      if (!await this.#more()) throw new EndOfSourceError("the connection ended within a head");
    }
  }

  /**
   * The next line, without its CRLF.
   *
   * @param max Most bytes that it may have.
   * @throws {EngineProtocolError} For a longer one, and for one that ends otherwise.
   * @throws {EndOfSourceError}
   */
  async line(max: number): Promise<string> {
    for (let seen = 0;;) {
      const buffer = this.#buffer;
      for (let at = this.#start + seen; at < this.#end; at++) {
        if (buffer[at] !== LF) continue;
        const length = at - this.#start - 1;
        if (length < 0 || buffer[at - 1] !== CR) {
          throw new EngineProtocolError("The container engine sent a line without its CRLF");
        }
        if (length > max) throw tooLong(max);
        const text = length === 0 ? "" : decoder.decode(buffer.subarray(this.#start, at - 1));
        this.#start = at + 1;
        return text;
      }
      seen = this.buffered;
      // The CR may be there already.
      if (seen > max + 1) throw tooLong(max);
      if (!await this.#more()) throw new EndOfSourceError("the connection ended within a line");
    }
  }

  /**
   * What is there, else what comes next: at least one byte and at most `max`; undefined at the end.
   * The bytes are good until the next call.
   */
  async some(max: number): Promise<Uint8Array | undefined> {
    if (this.buffered === 0 && !await this.#more()) return undefined;
    const taken = this.#buffer.subarray(this.#start, Math.min(this.#end, this.#start + max));
    this.#start += taken.length;
    return taken;
  }

  /** As `some()`, but copied to the front of `target`; answers how many, 0 at the end. */
  async someInto(target: Uint8Array): Promise<number> {
    if (this.buffered > 0) {
      const count = Math.min(this.buffered, target.length);
      target.set(this.#buffer.subarray(this.#start, this.#start + count));
      this.#start += count;
      return count;
    }
    const count = await this.#source.read(target) ?? 0;
    this.#received += count;
    return count;
  }

  /** @returns False at the end of the source. */
  async #more(): Promise<boolean> {
    if (this.#buffer === NO_BYTES) this.#buffer = new Uint8Array(BUFFER_LENGTH);
    if (this.#start === this.#end) {
      this.#start = this.#end = 0;
    } else if (this.#end === this.#buffer.length) {
      if (this.#start === 0) {
        throw new EngineProtocolError(
          `The container engine sent a head of more than ${BUFFER_LENGTH} bytes`,
        );
      }
      this.#buffer.copyWithin(0, this.#start, this.#end);
      this.#end -= this.#start;
      this.#start = 0;
    }
    const count = await this.#source.read(this.#buffer.subarray(this.#end)) ?? 0;
    this.#end += count;
    this.#received += count;
    return count > 0;
  }
}

const NO_BYTES = new Uint8Array(0);

const tooLong = (max: number) =>
  new EngineProtocolError(`The container engine sent a line of more than ${max} bytes`);

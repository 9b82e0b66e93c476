/** Reads heads, lines and bytes from a connection. @module */

import { EngineProtocolError } from "./errors.ts";

/** The source of the bytes, e.g. a `Deno.Conn`. */
export interface ByteSource {
  /** Reads at least one byte into the start of `into`; null at the end. */
  read(into: Uint8Array): Promise<number | null>;
}

/** The source ended or failed before the expected bytes. */
export class EndOfSourceError extends Error {
  override readonly name = "EndOfSourceError";
}

/** Largest size of the buffer, which is also the maximum length of a head. */
export const BUFFER_LENGTH = 64 * 1024;

/** A connection mostly waits, so its buffer starts small and grows with the reads that fill it. */
const FIRST_LENGTH = 4 * 1024;
const GROWTH = 4;

const CR = 13;
const LF = 10;

const decoder = new TextDecoder();

/** Buffers the bytes of a source, and returns them in the units of the protocol. */
export class ByteReader {
  readonly #source: ByteSource;
  // Allocated at the first read: a connection without a response needs none.
  #buffer: Uint8Array<ArrayBuffer> = NO_BYTES;
  #start = 0;
  #end = 0;
  #received = 0;

  constructor(source: ByteSource) {
    this.#source = source;
  }

  /** Bytes received but not read yet. */
  get buffered(): number {
    return this.#end - this.#start;
  }

  get received(): number {
    return this.#received;
  }

  /**
   * Reads the head of a message, without the empty line after it.
   *
   * @throws {EngineProtocolError} For a head above 64 KiB.
   * @throws {EndOfSourceError}
   */
  async readHead(): Promise<string> {
    // Bytes already searched for the end, so that none is searched twice.
    for (let seen = 0;;) {
      const buffer = this.#buffer;
      // A loop over the bytes would be hot enough to load the optimizing compiler, which takes 8 MB.
      for (
        let at = buffer.indexOf(LF, this.#start + seen);
        at >= 0 && at < this.#end;
        at = buffer.indexOf(LF, at + 1)
      ) {
        const end = at - 3;
        if (
          end >= this.#start && buffer[end] === CR && buffer[end + 1] === LF &&
          buffer[end + 2] === CR
        ) {
          const text = decoder.decode(buffer.subarray(this.#start, end));
          this.#start = at + 1;
          return text;
        }
      }
      seen = this.buffered;
      if (!await this.#fill()) throw new EndOfSourceError("the connection ended within a head");
    }
  }

  /**
   * Reads the next line, without its CRLF.
   *
   * @param max Maximum length in bytes.
   * @throws {EngineProtocolError} For a longer line, and for a line that does not end with CRLF.
   * @throws {EndOfSourceError}
   */
  async readLine(max: number): Promise<string> {
    for (;;) {
      const line = this.bufferedLine(max);
      if (line !== undefined) return line;
      // The CR may already be in the buffer.
      if (this.buffered > max + 1) throw tooLong(max);
      if (!await this.#fill()) throw new EndOfSourceError("the connection ended within a line");
    }
  }

  /** The next byte if it is buffered. */
  get bufferedByte(): number | undefined {
    return this.buffered > 0 ? this.#buffer[this.#start] : undefined;
  }

  /** Returns up to `max` buffered bytes, valid until the next call of another method. */
  takeBuffered(max: number): Uint8Array {
    const taken = this.#buffer.subarray(this.#start, Math.min(this.#end, this.#start + max));
    this.#start += taken.length;
    return taken;
  }

  /** Returns the next line if all of it is buffered, else undefined; like `readLine()`. */
  bufferedLine(max: number): string | undefined {
    const end = this.#buffer.indexOf(LF, this.#start);
    if (end < 0 || end >= this.#end) return undefined;
    const length = end - this.#start - 1;
    if (length < 0 || this.#buffer[end - 1] !== CR) {
      throw new EngineProtocolError("The container engine sent a line without its CRLF");
    }
    if (length > max) throw tooLong(max);
    const text = length === 0 ? "" : decoder.decode(this.#buffer.subarray(this.#start, end - 1));
    this.#start = end + 1;
    return text;
  }

  /**
   * Returns buffered bytes, or reads the next ones: at least one and at most `max`; undefined at
   * the end. The bytes are valid until the next call.
   */
  async readSome(max: number): Promise<Uint8Array | undefined> {
    if (this.buffered === 0 && !await this.#fill()) return undefined;
    return this.takeBuffered(max);
  }

  /** Like `readSome()`, but into the start of `target`. @returns Number of bytes; 0 at the end. */
  async readInto(target: Uint8Array): Promise<number> {
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
  async #fill(): Promise<boolean> {
    this.#makeRoom();
    const count = await this.#source.read(this.#buffer.subarray(this.#end)) ?? 0;
    this.#end += count;
    this.#received += count;
    return count > 0;
  }

  #makeRoom(): void {
    const { length } = this.#buffer;
    const unread = this.buffered;
    if (this.#end < length && unread > 0) return;
    if (unread === BUFFER_LENGTH) {
      throw new EngineProtocolError(
        `The container engine sent a head of more than ${BUFFER_LENGTH} bytes`,
      );
    }
    if (this.#end === length && length < BUFFER_LENGTH) {
      const grown = new Uint8Array(length === 0 ? FIRST_LENGTH : length * GROWTH);
      grown.set(this.#buffer.subarray(this.#start, this.#end));
      this.#buffer = grown;
    } else {
      this.#buffer.copyWithin(0, this.#start, this.#end);
    }
    this.#start = 0;
    this.#end = unread;
  }
}

const NO_BYTES = new Uint8Array(0);

const tooLong = (max: number) =>
  new EngineProtocolError(`The container engine sent a line of more than ${max} bytes`);

/** Bytes that arrive in pieces of any size, kept in one buffer. @module */

/** Size of the first buffer, in bytes. */
const FIRST_BYTES = 4_096;

/** Joins pieces. A body in a million pieces of one byte costs no more than one in a single piece. */
export class GrowingBytes {
  #buffer = new Uint8Array(FIRST_BYTES);
  #size = 0;

  /** Number of bytes so far. */
  get size(): number {
    return this.#size;
  }

  /** Copies the piece, which may change afterwards. */
  append(piece: Uint8Array): void {
    const size = this.#size + piece.length;
    if (size > this.#buffer.length) {
      const grown = new Uint8Array(Math.max(size, 2 * this.#buffer.length));
      grown.set(this.bytes());
      this.#buffer = grown;
    }
    this.#buffer.set(piece, this.#size);
    this.#size = size;
  }

  /** All bytes so far; valid until the next piece. */
  bytes(): Uint8Array<ArrayBuffer> {
    return this.#buffer.subarray(0, this.#size);
  }
}

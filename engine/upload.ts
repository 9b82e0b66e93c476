/**
 * The body of a request as a stream, sent in chunks (RFC 9112, section 7.1) while the response is
 * awaited: an engine may refuse a body before it has read all of it.
 *
 * @module
 */

import type { Connection } from "./http.ts";

const encoder = new TextEncoder();

const LINE_END = encoder.encode("\r\n");

/** One body. It is sent once, so that a request with it is never repeated. */
export class Upload {
  /** Whether all of it was sent. */
  isComplete = false;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #onSent: (bytes: number) => void;
  #isStopped = false;

  /** @param onSent Called with the size of each piece after it was sent. */
  constructor(source: ReadableStream<Uint8Array>, onSent: (bytes: number) => void) {
    this.#reader = source.getReader();
    this.#onSent = onSent;
  }

  /**
   * Sends the body. A connection that ends is not a failure: the response tells why.
   *
   * @throws The error of the source; the end of the body is then not sent.
   */
  async send(connection: Connection): Promise<void> {
    while (!this.#isStopped) {
      const { done, value } = await this.#reader.read();
      // A chunk of length 0 would end the body.
      if (this.#isStopped || value?.length === 0) continue;
      try {
        if (done) {
          await connection.writeAll(encoder.encode("0\r\n\r\n"));
          this.isComplete = true;
          return;
        }
        await connection.writeAll(encoder.encode(`${value.length.toString(16)}\r\n`));
        await connection.writeAll(value);
        await connection.writeAll(LINE_END);
      } catch {
        return this.stop();
      }
      this.#onSent(value.length);
    }
  }

  /** Releases the source. */
  stop(): void {
    this.#isStopped = true;
    this.#reader.cancel().catch(() => {});
  }
}

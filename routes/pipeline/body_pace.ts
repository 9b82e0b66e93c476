/**
 * Reads the body of a request at the pace of its client, which must not be too slow: a client that
 * sends nothing would otherwise keep its connection for ever.
 *
 * @module
 */

import { AppError } from "../../services/errors.ts";

/** Reads a body piece by piece. */
export interface PieceReader {
  /** The next piece, valid until the next read; `undefined` at the end. */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>;
  cancel(): Promise<void>;
}

/** Slowest accepted transfer, in bytes per millisecond. */
const RATE_MIN = 1;

/**
 * Limits the time that the client takes, but not the time between two reads. A read fails with an
 * {@linkcode AppError} `invalid` if the body is incomplete or arrives too slowly.
 *
 * @param options.idleMaxMs How long the client may send nothing.
 * @param options.patienceMs How long it may take beyond the time that a transfer at the lowest rate
 * takes.
 * @param options.now A monotonic clock in milliseconds.
 * @param options.onDisconnect Called when the client has disconnected, before the read fails.
 */
export function pacedReader(
  reader: PieceReader,
  { idleMaxMs, patienceMs, now = () => performance.now(), onDisconnect = () => {} }: {
    idleMaxMs: number;
    patienceMs: number;
    now?: (() => number) | undefined;
    onDisconnect?: (() => void) | undefined;
  },
): PieceReader {
  let received = 0;
  let waitedMs = 0;
  const cancel = () => void reader.cancel().catch(() => {});

  return {
    async read() {
      const startedAt = now();
      const allowedMs = Math.min(idleMaxMs, patienceMs + received / RATE_MIN - waitedMs);
      let isLate = allowedMs <= 0;
      if (isLate) cancel();
      const timer = setTimeout(() => {
        isLate = true;
        cancel();
      }, Math.max(0, allowedMs));
      try {
        const piece = await reader.read();
        if (isLate) throw new AppError("invalid", "body: arrives too slowly");
        received += piece?.length ?? 0;
        return piece;
      } catch (error) {
        if (error instanceof AppError) throw error;
        onDisconnect();
        throw new AppError("invalid", "body: is incomplete or malformed", { cause: error });
      } finally {
        clearTimeout(timer);
        waitedMs += now() - startedAt;
      }
    },
    cancel: () => reader.cancel(),
  };
}

/** Reads the pieces of a stream as they come. */
export function streamReader(body: ReadableStream<Uint8Array<ArrayBuffer>>): PieceReader {
  const reader = body.getReader();
  return { read: async () => (await reader.read()).value, cancel: () => reader.cancel() };
}

/**
 * What a request comes back with: an answer whose body is still to be read, or a raw connection.
 *
 * @module
 */

import { type Body, whole } from "./body.ts";
import type { Call } from "./call.ts";
import { EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import type { Connection, Head } from "./http.ts";

export interface EngineResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * The body, transfer coding removed, chunk by chunk as the caller asks for it (which is the
   * backpressure). It can be read once. Leaving the loop early closes the connection.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body; fails when it is larger than `bodyMax` of the request. */
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json<T>(): Promise<T>;
  /** Gives the rest of the body up and closes the connection; harmless when there is no rest. */
  cancel(): void;
}

export interface HijackedConnection extends Disposable {
  /** `content-type` of the answer, e.g. `application/vnd.docker.raw-stream`. */
  readonly contentType: string | undefined;
  /** What the engine sends, until it ends its side. Can be read once. */
  readonly readable: AsyncIterable<Uint8Array>;
  write(bytes: Uint8Array): Promise<void>;
  /** Ends our side only (the program sees the end of its input); reading goes on. */
  closeWrite(): Promise<void>;
  /** Harmless when it is closed already. */
  close(): void;
}

/** A request's hold on its connection, from the head of the answer to the end of its body. */
export interface Lease {
  readonly connection: Connection;
  readonly call: Call;
  readonly isReleased: boolean;
  /** Ends the hold; only a connection whose answer was read in full may serve another request. */
  release(isReusable: boolean): void;
  /** Ends the hold because of a failure; answers what to throw. */
  fail(error: unknown): unknown;
}

/** Longest time for a body that is read whole, in milliseconds. */
const BODY_TIMEOUT_MS = 60_000;

const decoder = new TextDecoder();

/** @param bodyMax Most bytes of a body that is read whole. */
export function answer(head: Head, body: Body, lease: Lease, bodyMax: number): EngineResponse {
  if (body.done) lease.release(head.keepsAlive);

  const bytes = async () => {
    lease.call.throwIfFailed();
    if (lease.isReleased) return new Uint8Array(0);
    lease.call.setTimer(BODY_TIMEOUT_MS, () =>
      lease.call.fail(
        new EngineUnreachableError(
          "The container engine began an answer, but did not end it in time",
          "timeout",
        ),
      ));
    try {
      const all = await whole(body, bodyMax);
      lease.release(head.keepsAlive);
      return all;
    } catch (error) {
      throw lease.fail(error);
    }
  };
  const text = async () => decoder.decode(await bytes());

  return {
    status: head.status,
    headers: head.headers,
    body: pieces(lease, async () => {
      const piece = (await body.some())?.slice();
      if (body.done) lease.release(head.keepsAlive);
      return piece;
    }),
    bytes,
    text,
    async json<T>() {
      const json = await text();
      try {
        return JSON.parse(json) as T;
      } catch (cause) {
        throw new EngineProtocolError("The container engine sent an answer that is not JSON", {
          cause,
        });
      }
    },
    cancel: () => lease.release(false),
  };
}

/**
 * What is left of a connection whose protocol was switched.
 *
 * @param body Until the connection ends, as a rule; an engine that did not switch may frame it.
 */
export function hijacked(head: Head, body: Body, lease: Lease): HijackedConnection {
  const { connection } = lease;
  const close = () => lease.release(false);
  return {
    contentType: head.headers.get("content-type"),
    readable: pieces(lease, async () => {
      const piece = (await body.some())?.slice();
      if (body.done) close();
      return piece;
    }),
    async write(bytes) {
      try {
        for (let sent = 0; sent < bytes.length;) {
          sent += await connection.write(bytes.subarray(sent));
        }
      } catch (error) {
        throw lease.fail(error);
      }
    },
    async closeWrite() {
      try {
        await connection.closeWrite();
      } catch (error) {
        throw lease.fail(error);
      }
    },
    close,
    [Symbol.dispose]: close,
  };
}

/**
 * What `next` gives until it gives nothing. Leaving the loop ends the hold on the connection at
 * once, even while a read waits or before the first one, which a generator could not do.
 */
function pieces(
  lease: Lease,
  next: () => Promise<Uint8Array | undefined>,
): AsyncIterableIterator<Uint8Array> {
  const end = { done: true, value: undefined } as const;
  return {
    async next() {
      lease.call.throwIfFailed();
      if (lease.isReleased) return end;
      try {
        const value = await next();
        return value ? { done: false, value } : end;
      } catch (error) {
        // Given up meanwhile: what the closed connection says is of no interest.
        if (lease.isReleased && !lease.call.failure) return end;
        throw lease.fail(error);
      }
    },
    return() {
      lease.release(false);
      return Promise.resolve(end);
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

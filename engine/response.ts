/** The result of a request: a response whose body is streamed, or a raw connection. @module */

import { type Body, readBeginning, readWhole } from "./body.ts";
import type { Call } from "./call.ts";
import { EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import type { Connection, Head } from "./http.ts";
import { type JsonLimits, JsonShortener } from "./shortened_json.ts";

export interface EngineResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /**
   * The decoded body, read from the connection as the caller consumes it. It can be read once.
   * Leaving the loop early closes the connection.
   */
  readonly body: AsyncIterable<Uint8Array>;
  /** The whole body; fails if it is larger than the request's `bodyMax`. */
  bytes(): Promise<Uint8Array>;
  text(): Promise<string>;
  json<T>(): Promise<T>;
  /**
   * The body as JSON, `undefined` if it is empty. Of a body above the limits, long texts are cut, see
   * `Shortened`.
   */
  shortenedJson<T>(limits: JsonLimits): Promise<T | undefined>;
  /** Discards the rest of the body and closes the connection, unless the body was read. */
  cancel(): void;
}

export interface HijackedConnection extends Disposable {
  /** `content-type` of the response, e.g. `application/vnd.docker.raw-stream`. */
  readonly contentType: string | undefined;
  /** Bytes from the engine, until it ends its side. Can be read once. */
  readonly readable: AsyncIterable<Uint8Array>;
  write(bytes: Uint8Array): Promise<void>;
  /** Ends this side only: the program sees the end of its input, reading continues. */
  closeWrite(): Promise<void>;
  /** May be called repeatedly. */
  close(): void;
}

/** A request's use of its connection, from the head of the response to the end of its body. */
export interface Lease {
  readonly connection: Connection;
  readonly call: Call;
  readonly isReleased: boolean;
  /** Ends the use. @param isReusable Whether the response was read in full. */
  release(isReusable: boolean): void;
  /** Ends the use after a failure. @returns The error to throw. */
  fail(error: unknown): unknown;
}

/** Time limit for reading a whole body, in milliseconds. */
const BODY_TIMEOUT_MS = 60_000;

const decoder = new TextDecoder();

/** @param bodyMax Maximum bytes of a body that is read whole. */
export function createResponse(
  head: Head,
  body: Body,
  lease: Lease,
  bodyMax: number,
): EngineResponse {
  if (body.isDone) lease.release(head.keepsAlive);

  const readAll = async <Result>(empty: Result, read: () => Promise<Result>): Promise<Result> => {
    lease.call.throwIfFailed();
    if (lease.isReleased) return empty;
    lease.call.setTimer(BODY_TIMEOUT_MS, () =>
      lease.call.fail(
        new EngineUnreachableError(
          "The container engine did not complete its response in time",
          "timeout",
        ),
      ));
    try {
      const all = await read();
      lease.release(head.keepsAlive);
      return all;
    } catch (error) {
      throw lease.fail(error);
    }
  };
  const bytes = () => readAll(new Uint8Array(0), () => readWhole(body, bodyMax));
  const text = async () => decoder.decode(await bytes());

  return {
    status: head.status,
    headers: head.headers,
    body: readPieces(lease, async () => {
      const piece = await body.readChunks();
      if (body.isDone) lease.release(head.keepsAlive);
      return piece;
    }),
    bytes,
    text,
    json: async <T>() => parseJson<T>(await text()),
    async shortenedJson<T>(limits: JsonLimits) {
      const read = await readAll<string | JsonShortener>("", async () => {
        const beginning = await readBeginning(body, limits.whole);
        if (body.isDone) return decoder.decode(beginning);
        const shortener = new JsonShortener(limits);
        shortener.write(beginning);
        for (let some = await body.readSome(); some; some = await body.readSome()) {
          shortener.write(some);
        }
        return shortener;
      });
      if (read === "") return undefined;
      return typeof read === "string" ? parseJson<T>(read) : read.end<T>();
    },
    cancel: () => lease.release(false),
  };
}

function parseJson<T>(text: string): T {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new EngineProtocolError("The container engine sent a response that is not JSON", {
      cause,
    });
  }
}

/**
 * The raw connection after an upgrade.
 *
 * @param body Usually ends with the connection; an engine that did not switch may frame it.
 */
export function createHijackedConnection(head: Head, body: Body, lease: Lease): HijackedConnection {
  const { connection } = lease;
  const close = () => lease.release(false);
  return {
    contentType: head.headers.get("content-type"),
    readable: readPieces(lease, async () => {
      const piece = (await body.readSome())?.slice();
      if (body.isDone) close();
      return piece;
    }),
    async write(bytes) {
      try {
        await connection.writeAll(bytes);
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
 * Iterates over the pieces that `next` returns. Leaving the loop releases the connection
 * immediately, even during a read or before the first one, which a generator could not do.
 */
function readPieces(
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
        // The caller left in the meantime: ignore the error of the closed connection.
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

/** Exchanges requests for responses over connections to the engine, which are reused. @module */

import { Body, findFraming, type Framing } from "./body.ts";
import { type Call, waitDuring } from "./call.ts";
import { type EngineError, EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import type { Method } from "./calls.ts";
import type { EngineEndpoint } from "./endpoint.ts";
import { toBrokenError, toResponseError } from "./failures.ts";
import { BrokenConnectionError, Connection, exchange, type Head, isConnectionEnd } from "./http.ts";
import type { EngineLimiter } from "./limiter.ts";
import { Pool } from "./pool.ts";
import { createResponse, type EngineResponse, type Lease } from "./response.ts";
import type { Upload } from "./upload.ts";

export interface TransportOptions {
  endpoint: EngineEndpoint;
  /** Longest idle time of a connection, in milliseconds. */
  idleMs: number;
  /** Maximum idle connections. */
  connectionsMax: number;
  now: () => number;
  /** Called when no connection can be opened. */
  onLost: (failure: EngineUnreachableError) => void;
  /** Called when a connection broke: the engine may be gone, or may have been replaced. */
  onSuspicion: () => void;
}

/** The head of a response whose body is still to be read. */
export interface Reply {
  head: Head;
  lease: Lease;
}

/** Default maximum of a body that is read whole, in bytes. */
const BODY_MAX = 64 * 1024 * 1024;

/** Maximum bytes of an error response or a probe's response. */
export const SMALL_BODY_MAX = 64 * 1024;

/** Methods that may be retried after an unknown outcome (RFC 9110, section 9.2.2). */
const IDEMPOTENT: ReadonlySet<Method> = new Set(["GET", "HEAD", "PUT", "DELETE"]);

/** Opens, reuses and closes the connections. */
export class Transport {
  readonly #options: TransportOptions;
  readonly #pool: Pool;
  #isClosed = false;

  constructor(options: TransportOptions) {
    this.#options = options;
    const { idleMs, connectionsMax: max, now } = options;
    this.#pool = new Pool({ idleMs, max, now });
  }

  /**
   * Sends a request and waits for the head of its response.
   *
   * @param limiter Has admitted the call; released with the lease, or here after a failure.
   */
  async exchange(
    call: Call,
    limiter: EngineLimiter | undefined,
    method: Method,
    request: Uint8Array,
    upload?: Upload,
  ): Promise<Reply> {
    let connection: Connection | undefined;
    try {
      // A request that cannot be repeated gets a connection that cannot have been closed while idle.
      connection = (upload ? undefined : this.#pool.take()) ??
        await this.#connect(call, limiter !== undefined);
      for (;;) {
        call.throwIfFailed();
        const current = connection;
        call.interrupt = () => current.close();
        const wasUsed = current.responses > 0;
        try {
          const head = await exchange(
            current,
            request,
            () => void upload?.send(current).catch((error) => call.fail(error)),
          );
          // A read may still succeed after the connection was closed under it.
          call.throwIfFailed();
          return { head, lease: this.#lease(call, limiter, current, upload) };
        } catch (error) {
          current.close();
          if (call.failure || !wasUsed || !canRetry(error, method)) throw error;
          // The engine closed the idle connection, so the others are likely closed as well. It may
          // also have been replaced by another version.
          this.#pool.clear();
          this.#options.onSuspicion();
          connection = await this.#connect(call, limiter !== undefined);
        }
      }
    } catch (error) {
      connection?.close();
      limiter?.release();
      call.interrupt = undefined;
      throw call.failure ? call.failure.reason : this.#toCallerError(error);
    }
  }

  /** @param isReported False for a probe, which reports its failure itself. */
  async #connect(call: Call, isReported: boolean): Promise<Connection> {
    const end = new AbortController();
    const opening = this.#options.endpoint.connect(end.signal);
    try {
      return new Connection(await waitDuring(call, opening));
    } catch (error) {
      end.abort();
      opening.then((late) => late.close(), () => {});
      if (isReported && !call.failure && error instanceof EngineUnreachableError) {
        this.#options.onLost(error);
      }
      throw error;
    }
  }

  #lease(
    call: Call,
    limiter: EngineLimiter | undefined,
    connection: Connection,
    upload: Upload | undefined,
  ): Lease {
    const release = (isReusable: boolean) => {
      if (lease.isReleased) return;
      lease.isReleased = true;
      call.end();
      const isSent = upload?.isComplete ?? true;
      if (!isSent) upload?.stop();
      if (isReusable && isSent && !call.failure && !this.#isClosed) this.#pool.give(connection);
      else connection.close();
      limiter?.release();
    };
    const lease = {
      connection,
      call,
      isReleased: false,
      release,
      fail: (error: unknown) => {
        release(false);
        return call.failure ? call.failure.reason : this.#toCallerError(error);
      },
    };
    // From here on no code may be waiting, but the limiter must still be released.
    call.interrupt = () => release(false);
    return lease;
  }

  createResponse(method: Method, head: Head, lease: Lease, bodyMax = BODY_MAX): EngineResponse {
    return createResponse(head, this.body(method, head, lease), lease, bodyMax);
  }

  body(method: Method, head: Head, lease: Lease, framed?: Framing): Body {
    try {
      return new Body(
        lease.connection.reader,
        framed ?? findFraming(method, head.status, head.headers),
      );
    } catch (error) {
      throw lease.fail(error);
    }
  }

  /** @param path Without the version and the query. */
  async readFailure(
    method: Method,
    path: string,
    { head, lease }: Reply,
  ): Promise<EngineError | EngineUnreachableError> {
    const { status } = head;
    if (status < 400) {
      throw lease.fail(
        new EngineProtocolError(`The container engine responded with status ${status}`),
      );
    }
    const text = await this.createResponse(method, head, lease, SMALL_BODY_MAX).text().catch(
      (error) => {
        // Without a readable text the status is enough.
        if (error instanceof EngineProtocolError) return "";
        throw error;
      },
    );
    const { address } = this.#options.endpoint;
    const failure = toResponseError({ method, path, status, body: text, address });
    if (failure instanceof EngineUnreachableError) this.#options.onSuspicion();
    return failure;
  }

  /** Turns the end of a connection into an error for the caller. */
  #toCallerError(error: unknown): unknown {
    if (!isConnectionEnd(error)) return error;
    this.#options.onSuspicion();
    return toBrokenError(error, this.#options.endpoint.address);
  }

  closeIdle(): void {
    this.#pool.clear();
  }

  /** Closes the idle connections now, and all others after their response. */
  close(): void {
    this.#isClosed = true;
    this.#pool.clear();
  }
}

/** Whether a request that failed on a reused connection may be retried on a new one. */
function canRetry(error: unknown, method: Method): boolean {
  if (!(error instanceof BrokenConnectionError)) return false;
  return error.progress === "unsent" ||
    (error.progress === "unanswered" && IDEMPOTENT.has(method));
}

/**
 * Requests to the container engine's API: one way out, failures told apart.
 *
 * @module
 */

import {
  answer,
  type EngineResponse,
  hijacked,
  type HijackedConnection,
  type Lease,
} from "./answer.ts";
import { Body, type Framing, framing } from "./body.ts";
import { Call, during } from "./call.ts";
import { EngineProbe, type PlainAnswer } from "./probe.ts";
import { EngineError, EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import { again, answeredFailure, connectFailure, isVersionRefusal } from "./failures.ts";
import {
  BrokenConnectionError,
  Connection,
  encodeRequest,
  exchange,
  type Head,
  isConnectionEnd,
} from "./http.ts";
import { EngineLimiter } from "./limiter.ts";
import { Pool } from "./pool.ts";

export type { EngineResponse, HijackedConnection };

export type Method = "GET" | "HEAD" | "POST" | "PUT" | "DELETE";

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string> | undefined;
  /** Ends the request at any point; the promise or the stream then fails with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /** Longest wait for the head of the answer, in milliseconds; default 30 000. */
  headTimeoutMs?: number | undefined;
  /** Most bytes of a body that is read whole; default 64 MiB. */
  bodyMax?: number | undefined;
  /**
   * Set for what may last: followed logs, events, stats, pulls, stops, disk usage. Such requests
   * have a bound of their own, so that they never hold up the short ones.
   */
  long?: boolean | undefined;
}

export interface Engine extends Disposable {
  readonly socketPath: string;
  /** Negotiated API version, e.g. "1.41"; undefined before the first contact. */
  readonly apiVersion: string | undefined;
  /** Which engine answers; undefined before the first contact. */
  readonly kind: "docker" | "podman" | undefined;
  /** Whether the last contact succeeded and requests are let through. */
  readonly reachable: boolean;
  /** Requests so far, and those that the engine did not answer, or only with a failure of its own. */
  readonly counts: Readonly<{ requests: number; failures: number }>;
  /**
   * Sends a request; resolves with the streamed answer for 2xx and 3xx. Its body must be read to
   * the end or cancelled. The version is put before `path`.
   *
   * @throws {EngineError} For every other status.
   * @throws {EngineUnreachableError} When there is no usable answer.
   */
  request(method: Method, path: string, options?: RequestOptions): Promise<EngineResponse>;
  /** The same, with the whole JSON body. */
  json<T>(method: Method, path: string, options?: RequestOptions): Promise<T>;
  /** POST with `Upgrade: tcp`; resolves with the hijacked duplex connection. */
  upgrade(path: string, options?: RequestOptions): Promise<HijackedConnection>;
  /** Closes every connection; whatever is under way fails. */
  close(): void;
}

export interface EngineOptions {
  /** Milliseconds that never go backwards; default `performance.now`. */
  now?: (() => number) | undefined;
  /** How long a kept-alive connection may lie unused, in milliseconds; default 10 000. */
  idleMs?: number | undefined;
  /** Short requests at the same time; more wait in order. Default 32. */
  connectionsMax?: number | undefined;
  /** Long requests at the same time (see `RequestOptions.long`); more wait in order. Default 256. */
  longMax?: number | undefined;
  /** Requests that may wait for their turn, per kind; more fail at once. Default 1 024. */
  waitingMax?: number | undefined;
  /** How long a short request may take before the engine is asked for a sign of life; ms. */
  suspectMs?: number | undefined;
  /** Longest wait for that sign, in milliseconds; default 3 000. */
  probeTimeoutMs?: number | undefined;
  /**
   * How long a request waits for the sign of an engine that was away, before it fails like the
   * others; in milliseconds, default 50.
   */
  probePatienceMs?: number | undefined;
}

const HEAD_TIMEOUT_MS = 30_000;
const BODY_MAX = 64 * 1024 * 1024;

/** Most bytes that are read of an answer that is no more than a failure's text, or a sign of life. */
const SMALL_BODY_MAX = 64 * 1024;

/** May be repeated when nothing is known about the first time (RFC 9110, section 9.2.2). */
const IDEMPOTENT: ReadonlySet<Method> = new Set(["GET", "HEAD", "PUT", "DELETE"]);

/** @param socketPath E.g. `/var/run/docker.sock`. Nothing is connected before the first request. */
export function connectEngine(socketPath: string, options: EngineOptions = {}): Engine {
  return new Client(socketPath, options);
}

interface Answered {
  head: Head;
  lease: Lease;
}

class Client implements Engine {
  readonly socketPath: string;
  readonly counts = { requests: 0, failures: 0 };
  readonly #pool: Pool;
  readonly #short: EngineLimiter;
  readonly #long: EngineLimiter;
  readonly #contact: EngineProbe;
  readonly #calls = new Set<Call>();
  /** Those of them that are short, change nothing and wait for their answer. */
  readonly #reads = new Set<Call>();
  readonly #suspectMs: number;
  readonly #probeTimeoutMs: number;
  #isClosed = false;

  constructor(socketPath: string, {
    now = () => performance.now(),
    idleMs = 10_000,
    connectionsMax = 32,
    longMax = 256,
    waitingMax = 1_024,
    suspectMs = 3_000,
    probeTimeoutMs = 3_000,
    probePatienceMs = 50,
  }: EngineOptions) {
    this.socketPath = socketPath;
    this.#pool = new Pool({ idleMs, max: connectionsMax, now });
    this.#short = new EngineLimiter(connectionsMax, waitingMax);
    this.#long = new EngineLimiter(longMax, waitingMax);
    this.#suspectMs = suspectMs;
    this.#probeTimeoutMs = probeTimeoutMs;
    this.#contact = new EngineProbe({
      socketPath,
      ask: (target) => this.#asked(target),
      onLost: (failure, isSilent) => {
        this.#pool.clear();
        this.#short.failWaiting(() => again(failure));
        this.#long.failWaiting(() => again(failure));
        // What only reads may be given up; what changes something may be done all the same.
        if (isSilent) { for (const call of this.#reads) call.fail(again(failure)); }
      },
      now,
      patienceMs: probePatienceMs,
    });
  }

  get apiVersion() {
    return this.#contact.apiVersion;
  }

  get kind() {
    return this.#contact.kind;
  }

  get reachable() {
    return this.#contact.version !== undefined;
  }

  async request(method: Method, path: string, options: RequestOptions = {}) {
    const { head, lease } = await this.#sent(method, path, options, false);
    return this.#answer(method, head, lease, options.bodyMax);
  }

  async json<T>(method: Method, path: string, options?: RequestOptions): Promise<T> {
    return await (await this.request(method, path, options)).json<T>();
  }

  async upgrade(path: string, options: RequestOptions = {}) {
    const { head, lease } = await this.#sent("POST", path, { ...options, long: true }, true);
    // An engine that answers 200 instead of switching may have framed its answer like any other.
    const body = this.#body("POST", head, lease, head.status === 101 ? "until close" : undefined);
    return hijacked(head, body, lease);
  }

  close() {
    this.#isClosed = true;
    this.#contact.close();
    for (const call of this.#calls) call.fail(this.#closedError());
    this.#pool.clear();
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** Sends a request in the engine's version; resolves when the head says success. */
  async #sent(method: Method, path: string, options: RequestOptions, isUpgrade: boolean) {
    try {
      return await this.#sentOnce(method, path, options, isUpgrade);
    } catch (error) {
      if (!isVersionRefusal(error)) throw error;
      // The engine was replaced by another version while the connections lay idle.
      this.#contact.forgetVersion();
      return await this.#sentOnce(method, path, options, isUpgrade);
    }
  }

  async #sentOnce(
    method: Method,
    path: string,
    options: RequestOptions,
    isUpgrade: boolean,
  ): Promise<Answered> {
    options.signal?.throwIfAborted();
    if (this.#isClosed) throw this.#closedError();

    this.counts.requests++;
    const call = new Call(options.signal, this.#calls);
    this.#setDeadline(call, options);
    try {
      const version = this.#contact.version ?? await this.#contact.establish(call);
      const request = encodeRequest({
        method,
        target: `/v${version}${path}${queryText(options.query)}`,
        headers: options.headers,
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        upgrade: isUpgrade,
      });
      const lane = options.long ? this.#long : this.#short;
      if (!lane.tryEnter()) await lane.enter(call);
      if (method === "GET" && !options.long) this.#reads.add(call);
      const answered = await this.#exchanged(call, lane, method, request);
      this.#reads.delete(call);
      const { status } = answered.head;
      if (isUpgrade ? status === 101 || status === 200 : status >= 200 && status < 400) {
        call.clearTimer();
        return answered;
      }
      throw await this.#failure(method, answered);
    } catch (error) {
      this.#reads.delete(call);
      call.end();
      const isAnswer = error instanceof EngineError && error.status < 500;
      if (!isAnswer && !options.signal?.aborted) this.counts.failures++;
      throw error;
    }
  }

  #setDeadline(call: Call, { headTimeoutMs = HEAD_TIMEOUT_MS, long }: RequestOptions): void {
    const onDeadline = () =>
      call.fail(
        new EngineUnreachableError(
          `The container engine at ${this.socketPath} did not answer within ${
            headTimeoutMs / 1000
          } s`,
          "timeout",
        ),
      );
    if (long || headTimeoutMs <= this.#suspectMs) {
      return call.setTimer(headTimeoutMs, () => {
        this.#contact.suspect();
        onDeadline();
      });
    }
    call.setTimer(this.#suspectMs, () => {
      this.#contact.suspect();
      call.setTimer(headTimeoutMs - this.#suspectMs, onDeadline);
    });
  }

  /** A request for a sign of life; it waits for nobody's turn. */
  async #asked(target: string): Promise<PlainAnswer> {
    const call = new Call(undefined, this.#calls);
    call.setTimer(this.#probeTimeoutMs, () =>
      call.fail(
        new EngineUnreachableError(
          `The container engine at ${this.socketPath} does not answer`,
          "timeout",
        ),
      ));
    try {
      const request = encodeRequest({ method: "GET", target });
      const answered = await this.#exchanged(call, undefined, "GET", request);
      const { head, lease } = answered;
      if (head.status !== 200) throw await this.#failure("GET", answered);
      const text = await this.#answer("GET", head, lease, SMALL_BODY_MAX).text();
      return { headers: head.headers, text };
    } finally {
      call.end();
    }
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @param lane Was entered; left again with the lease, or here in case of a failure.
   */
  async #exchanged(
    call: Call,
    lane: EngineLimiter | undefined,
    method: Method,
    request: Uint8Array,
  ): Promise<Answered> {
    let connection: Connection | undefined;
    try {
      connection = this.#pool.take() ?? await this.#connected(call, lane !== undefined);
      for (;;) {
        call.throwIfFailed();
        const current = connection;
        call.interrupt = () => current.close();
        const wasUsed = current.answers > 0;
        try {
          const head = await exchange(current, request);
          // A read may still succeed after the connection was closed under it.
          call.throwIfFailed();
          return { head, lease: this.#lease(call, lane, current) };
        } catch (error) {
          current.close();
          if (call.failure || !wasUsed || !mayRepeat(error, method)) throw error;
          // The engine closed the connection while it lay idle; the others will be no better. It
          // may have been replaced by another version, too.
          this.#pool.clear();
          this.#contact.suspect();
          connection = await this.#connected(call, lane !== undefined);
        }
      }
    } catch (error) {
      connection?.close();
      lane?.leave();
      call.interrupt = undefined;
      throw call.failure ? call.failure.reason : this.#explained(error);
    }
  }

  /** @param isReported False for the sign of life, whose failure is known without. */
  async #connected(call: Call, isReported: boolean): Promise<Connection> {
    const opening = Connection.open(this.socketPath);
    try {
      return await during(call, opening);
    } catch (error) {
      opening.then((late) => late.close(), () => {});
      if (call.failure) throw error;
      const failure = connectFailure(error, this.socketPath);
      if (isReported) this.#contact.lost(failure);
      throw failure;
    }
  }

  #lease(call: Call, lane: EngineLimiter | undefined, connection: Connection): Lease {
    const release = (isReusable: boolean) => {
      if (lease.isReleased) return;
      lease.isReleased = true;
      call.end();
      if (isReusable && !call.failure && !this.#isClosed) this.#pool.give(connection);
      else connection.close();
      lane?.leave();
    };
    const lease = {
      connection,
      call,
      isReleased: false,
      release,
      fail: (error: unknown) => {
        release(false);
        return call.failure ? call.failure.reason : this.#explained(error);
      },
    };
    // From here on nobody may be waiting, and the place in the lane is to be left all the same.
    call.interrupt = () => release(false);
    return lease;
  }

  #answer(method: Method, head: Head, lease: Lease, bodyMax = BODY_MAX): EngineResponse {
    return answer(head, this.#body(method, head, lease), lease, bodyMax);
  }

  #body(method: Method, head: Head, lease: Lease, framed?: Framing): Body {
    try {
      return new Body(
        lease.connection.reader,
        framed ?? framing(method, head.status, head.headers),
      );
    } catch (error) {
      throw lease.fail(error);
    }
  }

  /** What the engine says in an answer that is none of the wanted ones. */
  async #failure(method: Method, { head, lease }: Answered): Promise<EngineError> {
    const { status } = head;
    if (status < 400) {
      throw lease.fail(
        new EngineProtocolError(`The container engine answered with status ${status}`),
      );
    }
    const text = await this.#answer(method, head, lease, SMALL_BODY_MAX).text().catch((error) => {
      // The status says enough where the text is unreadable.
      if (error instanceof EngineProtocolError) return "";
      throw error;
    });
    return answeredFailure(status, text);
  }

  /** A failure below, in the words of this module. */
  #explained(error: unknown): unknown {
    if (!isConnectionEnd(error)) return error;
    this.#contact.suspect();
    return new EngineUnreachableError(
      `The connection to the container engine at ${this.socketPath} broke`,
      "broken",
      { cause: error },
    );
  }

  #closedError() {
    return new EngineUnreachableError("The container engine's client is closed", "closed");
  }
}

/** Whether a request that failed on a kept-alive connection may be sent again on a fresh one. */
function mayRepeat(error: unknown, method: Method): boolean {
  if (!(error instanceof BrokenConnectionError)) return false;
  return error.progress === "unsent" ||
    (error.progress === "unanswered" && IDEMPOTENT.has(method));
}

function queryText(query: RequestOptions["query"]): string {
  let text = "";
  for (const name in query) {
    const value = query[name];
    if (value === undefined) continue;
    text += `${text ? "&" : "?"}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}

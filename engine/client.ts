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
import { Circuit } from "./circuit.ts";
import { EngineError, EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import {
  BrokenConnectionError,
  Connection,
  encodeRequest,
  exchange,
  type Head,
  isConnectionEnd,
} from "./http.ts";
import { Lane } from "./lane.ts";
import { Pool } from "./pool.ts";
import { API_VERSION_MAX, commonVersion } from "./version.ts";
import { isAtLeast } from "./query.ts";

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

/** Most bytes of an error's text that are read, and most characters that are passed on. */
const ERROR_BODY_MAX = 64 * 1024;
const ERROR_TEXT_MAX = 2_000;

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
  readonly #pool: Pool;
  readonly #short: Lane;
  readonly #long: Lane;
  readonly #circuit: Circuit;
  readonly #calls = new Set<Call>();
  readonly #suspectMs: number;
  readonly #probeTimeoutMs: number;
  readonly #probePatienceMs: number;
  #contact: { apiVersion: string; kind: "docker" | "podman" } | undefined;
  /** Under way: finds out whether the engine answers, and which version it speaks. */
  #probe: Promise<void> | undefined;
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
    this.#short = new Lane(connectionsMax, waitingMax);
    this.#long = new Lane(longMax, waitingMax);
    this.#circuit = new Circuit(now);
    this.#suspectMs = suspectMs;
    this.#probeTimeoutMs = probeTimeoutMs;
    this.#probePatienceMs = probePatienceMs;
  }

  get apiVersion() {
    return this.#contact?.apiVersion;
  }

  get kind() {
    return this.#contact?.kind;
  }

  get reachable() {
    return this.#contact !== undefined && !this.#circuit.failure && !this.#isClosed;
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
    const { reader } = lease.connection;
    return hijacked(head, new Body(reader, hijackFraming(head)), lease);
  }

  close() {
    this.#isClosed = true;
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
      this.#contact = undefined;
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

    const call = new Call(options.signal, this.#calls);
    this.#setDeadline(call, options);
    try {
      const version = this.#knownVersion() ?? await this.#negotiated(call);
      const request = encodeRequest({
        method,
        target: `/v${version}${path}${queryText(options.query)}`,
        headers: options.headers,
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        upgrade: isUpgrade,
      });
      const lane = options.long ? this.#long : this.#short;
      if (!lane.tryEnter()) await lane.enter(call);
      const answered = await this.#exchanged(call, lane, method, request);
      const { status } = answered.head;
      if (isUpgrade ? status === 101 || status === 200 : status >= 200 && status < 400) {
        call.clearTimer();
        return answered;
      }
      throw await this.#failure(method, answered);
    } catch (error) {
      call.end();
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
        this.#suspect();
        onDeadline();
      });
    }
    call.setTimer(this.#suspectMs, () => {
      this.#suspect();
      call.setTimer(headTimeoutMs - this.#suspectMs, onDeadline);
    });
  }

  /** The version to speak, when there is no reason to ask first. */
  #knownVersion(): string | undefined {
    return this.#circuit.failure ? undefined : this.#contact?.apiVersion;
  }

  /** Waits for the first contact; after a failure only for as long as a living engine takes. */
  async #negotiated(call: Call): Promise<string> {
    const { failure } = this.#circuit;
    if (failure && !this.#probe && !this.#circuit.isProbeDue) throw again(failure);
    const probe = this.#startProbe();
    if (!failure) {
      await during(call, probe);
    } else {
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(() => patience.reject(again(failure)), this.#probePatienceMs);
      try {
        await during(call, Promise.race([probe, patience.promise]));
      } finally {
        clearTimeout(timer);
      }
    }
    return this.#knownVersion() ?? await this.#negotiated(call);
  }

  #startProbe(): Promise<void> {
    this.#probe ??= this.#probed().finally(() => this.#probe = undefined);
    // Those who wait for it are told; nobody has to.
    this.#probe.catch(() => {});
    return this.#probe;
  }

  /** Something went wrong that a living engine may cause as well: finds out in the background. */
  #suspect(): void {
    if (!this.#isClosed && !this.#circuit.failure) this.#startProbe();
  }

  /** Asks for a sign of life; closes or opens the circuit by it. */
  async #probed(): Promise<void> {
    try {
      const ping = await this.#unversioned("/_ping");
      const newest = ping.headers.get("api-version") ?? "";
      if (!/^\d+\.\d+$/.test(newest)) {
        throw new EngineProtocolError(`What listens at ${this.socketPath} is no container engine`);
      }
      this.#contact = {
        apiVersion: commonVersion(newest, await this.#oldest(newest)),
        kind: ping.headers.has("libpod-api-version") ? "podman" : "docker",
      };
      this.#circuit.close();
    } catch (error) {
      const failure = error instanceof EngineUnreachableError ? error : new EngineUnreachableError(
        `The container engine at ${this.socketPath} is not ready: ${messageOf(error)}`,
        "broken",
        { cause: error },
      );
      if (!this.#isClosed) this.#open(failure, true);
      throw failure;
    }
  }

  /** Only an engine that is newer than we are may have dropped all that we know. */
  async #oldest(newest: string): Promise<string | undefined> {
    if (isAtLeast(API_VERSION_MAX, newest)) return undefined;
    const { text } = await this.#unversioned("/version");
    try {
      return JSON.parse(text).MinAPIVersion;
    } catch {
      return undefined;
    }
  }

  /** A request of the probe; it waits for nobody's turn. */
  async #unversioned(target: string) {
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
      const text = await this.#answer("GET", head, lease, ERROR_BODY_MAX).text();
      return { headers: head.headers, text };
    } finally {
      call.end();
    }
  }

  #open(failure: EngineUnreachableError, byProbe: boolean): void {
    this.#circuit.open(failure, { byProbe });
    this.#pool.clear();
    this.#short.failWaiting(() => again(failure));
    this.#long.failWaiting(() => again(failure));
  }

  /**
   * Sends a request and waits for the head of its answer.
   *
   * @param lane Was entered; left again with the lease, or here in case of a failure.
   */
  async #exchanged(
    call: Call,
    lane: Lane | undefined,
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
          this.#suspect();
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

  /** @param opensCircuit False for the probe, which sees to that itself. */
  async #connected(call: Call, opensCircuit: boolean): Promise<Connection> {
    const opening = Connection.open(this.socketPath);
    try {
      return await during(call, opening);
    } catch (error) {
      opening.then((late) => late.close(), () => {});
      if (call.failure) throw error;
      const failure = connectFailure(error, this.socketPath);
      if (opensCircuit) this.#open(failure, false);
      throw failure;
    }
  }

  #lease(call: Call, lane: Lane | undefined, connection: Connection): Lease {
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
    try {
      const body = new Body(lease.connection.reader, framing(method, head.status, head.headers));
      return answer(head, body, lease, bodyMax);
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
    const text = await this.#answer(method, head, lease, ERROR_BODY_MAX).text().catch((error) => {
      // The status says enough where the text is unreadable.
      if (error instanceof EngineProtocolError) return "";
      throw error;
    });
    const message = failureText(text) || `The engine answered status ${status}`;
    return new EngineError(isConflict(status, message) ? 409 : status, message);
  }

  /** A failure below, in the words of this module. */
  #explained(error: unknown): unknown {
    if (!isConnectionEnd(error)) return error;
    this.#suspect();
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

/** An engine that answers 200 to an upgrade may have framed its answer like any other. */
const hijackFraming = ({ status, headers }: Head): Framing =>
  status === 101 ? "until close" : framing("POST", status, headers);

/** Whether a request that failed on a kept-alive connection may be sent again on a fresh one. */
function mayRepeat(error: unknown, method: Method): boolean {
  if (!(error instanceof BrokenConnectionError)) return false;
  return error.progress === "unsent" ||
    (error.progress === "unanswered" && IDEMPOTENT.has(method));
}

/** Both engines refuse a version so, before they look at anything else. */
function isVersionRefusal(error: unknown): boolean {
  return error instanceof EngineError && error.status === 400 &&
    /client version \S+ is too (?:old|new)/i.test(error.message);
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

/** The message of an error body; the text itself where it is no JSON. */
function failureText(text: string): string {
  let message = text;
  try {
    message = JSON.parse(text).message ?? text;
  } catch {
    // Proxies and old engines answer plain text.
  }
  return String(message).trim().slice(0, ERROR_TEXT_MAX);
}

/**
 * Whether the engine calls a failure of its own what is only in the way: Podman when a container is
 * in the wrong state or a name is taken, Docker up to 20.10 when a service was changed meanwhile.
 */
function isConflict(status: number, message: string): boolean {
  return status === 500 &&
    /container state improper|is already in use|is being used|in use by|update out of sequence/i
      .test(message);
}

function connectFailure(error: unknown, socketPath: string): EngineUnreachableError {
  const cause = { cause: error };
  if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) {
    return new EngineUnreachableError(
      `There is no container engine at ${socketPath}: the socket does not exist`,
      "missing",
      cause,
    );
  }
  if (error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable) {
    return new EngineUnreachableError(
      `No permission to use the container engine's socket ${socketPath}: this user must be ` +
        `allowed to read and write it (for Docker: be a member of the group that owns it)`,
      "permission",
      cause,
    );
  }
  if (error instanceof Deno.errors.ConnectionRefused) {
    return new EngineUnreachableError(
      `The container engine at ${socketPath} is not running: nobody listens on its socket`,
      "refused",
      cause,
    );
  }
  return new EngineUnreachableError(
    `The container engine at ${socketPath} does not accept connections: ${messageOf(error)}`,
    "refused",
    cause,
  );
}

const messageOf = (error: unknown) => error instanceof Error ? error.message : String(error);

/** A new error for each caller, so that none sees another one's stack. */
function again(failure: EngineUnreachableError): EngineUnreachableError {
  return new EngineUnreachableError(failure.message, failure.reason, { cause: failure });
}

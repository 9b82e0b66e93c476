/** The client of the container engine's API. @module */

import { Call } from "./call.ts";
import type { CallPath, CallTarget, Method } from "./calls.ts";
import { type EngineEndpoint, socketEndpoint } from "./endpoint.ts";
import { EngineError, EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import { copyFailure, isVersionRefusal } from "./failures.ts";
import { encodeRequest } from "./http.ts";
import { EngineLimiter } from "./limiter.ts";
import { EngineProbe, type PlainResponse } from "./probe.ts";
import {
  createHijackedConnection,
  type EngineResponse,
  type HijackedConnection,
} from "./response.ts";
import type { JsonLimits } from "./shortened_json.ts";
import { type Reply, SMALL_BODY_MAX, Transport } from "./transport.ts";
import { Upload } from "./upload.ts";

export type { EngineResponse, HijackedConnection };

export interface RequestOptions {
  query?: Record<string, string | number | boolean | undefined> | undefined;
  /** Sent as JSON. */
  body?: unknown;
  /**
   * Sent as it is, in chunks, instead of `body`. It is cancelled unless it was sent completely. Its
   * error is the error of the request, or of reading the response.
   */
  upload?: ReadableStream<Uint8Array> | undefined;
  /** Called with the size of each piece of `upload` after it was sent, in bytes. */
  onSent?: ((bytes: number) => void) | undefined;
  headers?: Record<string, string> | undefined;
  /** Cancels the request; the promise or the stream then fails with `signal.reason`. */
  signal?: AbortSignal | undefined;
  /**
   * Time limit for the head of the response, in milliseconds; default 30 000. Starts again with each
   * sent piece of `upload`.
   */
  headTimeoutMs?: number | undefined;
  /** Maximum bytes of a body that is read whole; default 64 MiB. */
  bodyMax?: number | undefined;
  /** Limits above which long texts of a JSON body are cut, see `Shortened`, instead of `bodyMax`. */
  limits?: JsonLimits | undefined;
  /**
   * Set for requests that may take long: logs, events, stats, pulls, stops, disk usage. They have a
   * separate limit, so that they never delay short requests.
   */
  long?: boolean | undefined;
}

/** Method and path, one of `CALLS`, with options. */
export type EngineCall = [...call: CallTarget, options?: RequestOptions | undefined];

export interface Engine extends Disposable {
  readonly endpoint: EngineEndpoint;
  /** Negotiated API version, e.g. "1.41"; undefined before the first response. */
  readonly apiVersion: string | undefined;
  /** The kind of engine; undefined before the first response. */
  readonly kind: "docker" | "podman" | undefined;
  /** Whether the engine is reachable; otherwise requests fail until a probe succeeds. */
  readonly reachable: boolean;
  /** Requests in total, and those without a response or with status 500 or above. */
  readonly counts: Readonly<{ requests: number; failures: number }>;
  /**
   * Sends a request and resolves with the streamed response for 2xx and 3xx. Its body must be read
   * to the end or cancelled. The API version is prefixed to `path`.
   *
   * @throws {EngineError} For any other status.
   * @throws {EngineUnreachableError} If there is no usable response.
   */
  request(...call: EngineCall): Promise<EngineResponse>;
  /** Sends a request and waits for the end of its response, whose body is not needed. */
  send(...call: EngineCall): Promise<EngineResponse>;
  /** Sends a request and resolves with the JSON body. */
  json<T>(...call: EngineCall): Promise<T>;
  /** Sends a POST with `Upgrade: tcp` and resolves with the raw duplex connection. */
  upgrade(path: CallPath<"POST">, options?: RequestOptions): Promise<HijackedConnection>;
  /** Closes all connections; pending requests fail. */
  close(): void;
}

export interface EngineOptions {
  /** A monotonic clock in milliseconds; default `performance.now`. */
  now?: (() => number) | undefined;
  /** Longest idle time of a connection, in milliseconds; default: the endpoint's, or 10 000. */
  idleMs?: number | undefined;
  /** Maximum concurrent short requests; further ones wait in order. Default 32. */
  connectionsMax?: number | undefined;
  /** Maximum concurrent long requests (see `RequestOptions.long`). Default 256. */
  longMax?: number | undefined;
  /** Maximum waiting requests of each kind; further ones fail immediately. Default 1 024. */
  waitingMax?: number | undefined;
  /** Duration of a short request after which the engine is probed, in ms; default 3 000. */
  suspectMs?: number | undefined;
  /** Time limit of a probe, in milliseconds; default 3 000. */
  probeTimeoutMs?: number | undefined;
  /**
   * Longest wait of a request for the probe of an unreachable engine before it fails, in
   * milliseconds; default 50.
   */
  probePatienceMs?: number | undefined;
}

const HEAD_TIMEOUT_MS = 30_000;

/**
 * No connection is opened before the first request.
 *
 * @param endpoint The path of a socket, e.g. `/var/run/docker.sock`, or another endpoint.
 */
export function connectEngine(
  endpoint: string | EngineEndpoint,
  options: EngineOptions = {},
): Engine {
  return new Client(typeof endpoint === "string" ? socketEndpoint(endpoint) : endpoint, options);
}

class Client implements Engine {
  readonly endpoint: EngineEndpoint;
  readonly counts = { requests: 0, failures: 0 };
  readonly #transport: Transport;
  readonly #short: EngineLimiter;
  readonly #long: EngineLimiter;
  readonly #probe: EngineProbe;
  readonly #calls = new Set<Call>();
  /** The short GET requests among them that wait for their response. */
  readonly #reads = new Set<Call>();
  readonly #suspectMs: number;
  readonly #probeTimeoutMs: number;
  #isClosed = false;

  constructor(endpoint: EngineEndpoint, {
    now = () => performance.now(),
    idleMs = endpoint.idleMs ?? 10_000,
    connectionsMax = 32,
    longMax = 256,
    waitingMax = 1_024,
    suspectMs = 3_000,
    probeTimeoutMs = 3_000,
    probePatienceMs = 50,
  }: EngineOptions) {
    this.endpoint = endpoint;
    this.#transport = new Transport({
      ...{ endpoint, idleMs, connectionsMax, now },
      onLost: (failure) => this.#probe.recordLoss(failure),
      onSuspicion: () => this.#probe.suspect(),
    });
    this.#short = new EngineLimiter(connectionsMax, waitingMax);
    this.#long = new EngineLimiter(longMax, waitingMax);
    this.#suspectMs = suspectMs;
    this.#probeTimeoutMs = probeTimeoutMs;
    this.#probe = new EngineProbe({
      address: endpoint.address,
      send: (target) => this.#sendProbe(target),
      onLost: (failure, isSilent) => {
        this.#transport.closeIdle();
        this.#short.failWaiting(() => copyFailure(failure));
        this.#long.failWaiting(() => copyFailure(failure));
        // Reads can be given up; the engine may still carry out changes.
        if (isSilent) { for (const call of this.#reads) call.fail(copyFailure(failure)); }
      },
      now,
      patienceMs: probePatienceMs,
    });
  }

  get apiVersion() {
    return this.#probe.apiVersion;
  }

  get kind() {
    return this.#probe.kind;
  }

  get reachable() {
    return this.#probe.version !== undefined;
  }

  async request(...[method, path, options = {}]: EngineCall) {
    const { head, lease } = await this.#request(method, path, options, false);
    return this.#transport.createResponse(method, head, lease, options.bodyMax);
  }

  async send(...call: EngineCall) {
    const response = await this.request(...call);
    await response.bytes();
    return response;
  }

  async json<T>(...call: EngineCall): Promise<T> {
    const response = await this.request(...call);
    const [, , { limits } = {}] = call;
    if (limits === undefined) return await response.json<T>();
    const found = await response.shortenedJson<T>(limits);
    if (found !== undefined) return found;
    throw new EngineProtocolError("The container engine sent an empty response");
  }

  async upgrade(path: CallPath<"POST">, options: RequestOptions = {}) {
    const { head, lease } = await this.#request("POST", path, { ...options, long: true }, true);
    // An engine that responds with 200 instead of switching may frame its response.
    const body = this.#transport.body(
      "POST",
      head,
      lease,
      head.status === 101 ? "until close" : undefined,
    );
    return createHijackedConnection(head, body, lease);
  }

  close() {
    this.#isClosed = true;
    this.#probe.close();
    this.#transport.close();
    for (const call of this.#calls) call.fail(this.#closedError());
  }

  [Symbol.dispose]() {
    this.close();
  }

  /** Sends a request with the API version; resolves with the head of a successful response. */
  async #request(method: Method, path: string, options: RequestOptions, isUpgrade: boolean) {
    try {
      return await this.#requestOnce(method, path, options, isUpgrade);
    } catch (error) {
      if (!isVersionRefusal(error)) throw error;
      // The engine was replaced by another version while the connections were idle.
      this.#probe.forgetVersion();
      if (options.upload) throw error;
      return await this.#requestOnce(method, path, options, isUpgrade);
    }
  }

  async #requestOnce(
    method: Method,
    path: string,
    options: RequestOptions,
    isUpgrade: boolean,
  ): Promise<Reply> {
    this.counts.requests++;
    const call = new Call(options.signal, this.#calls);
    let hasHead = false;
    const upload = options.upload && new Upload(options.upload, (bytes) => {
      if (!hasHead) this.#setDeadline(call, options);
      options.onSent?.(bytes);
    });
    try {
      options.signal?.throwIfAborted();
      if (this.#isClosed) throw this.#closedError();
      this.#setDeadline(call, options);
      const version = this.#probe.version ?? await this.#probe.establish(call);
      const request = encodeRequest({
        method,
        target: `/v${version}${path}${encodeQuery(options.query)}`,
        headers: options.headers,
        body: options.body === undefined ? undefined : JSON.stringify(options.body),
        chunked: upload !== undefined,
        upgrade: isUpgrade,
      });
      const limiter = options.long ? this.#long : this.#short;
      if (!limiter.tryAcquire()) await limiter.acquire(call);
      if (method === "GET" && !options.long) this.#reads.add(call);
      const reply = await this.#transport.exchange(call, limiter, method, request, upload);
      hasHead = true;
      this.#reads.delete(call);
      const { status } = reply.head;
      if (isUpgrade ? status === 101 || status === 200 : status >= 200 && status < 400) {
        call.clearTimer();
        return reply;
      }
      throw await this.#transport.readFailure(method, path, reply);
    } catch (error) {
      this.#reads.delete(call);
      call.end();
      upload?.stop();
      const isResponse = error instanceof EngineError && error.status < 500;
      if (!isResponse && !options.signal?.aborted) this.counts.failures++;
      throw error;
    }
  }

  #setDeadline(call: Call, { headTimeoutMs = HEAD_TIMEOUT_MS, long }: RequestOptions): void {
    const limit = `${headTimeoutMs / 1000} s`;
    const onDeadline = () => call.fail(this.#late(`did not answer within ${limit}`, "timeout"));
    if (long || headTimeoutMs <= this.#suspectMs) {
      return call.setTimer(headTimeoutMs, () => {
        this.#probe.suspect();
        onDeadline();
      });
    }
    call.setTimer(this.#suspectMs, () => {
      this.#probe.suspect();
      call.setTimer(headTimeoutMs - this.#suspectMs, onDeadline);
    });
  }

  /** Sends a probe, which does not wait for other requests. */
  async #sendProbe(target: string): Promise<PlainResponse> {
    const call = new Call(undefined, this.#calls);
    call.setTimer(this.#probeTimeoutMs, () => call.fail(this.#late("does not answer", "silent")));
    try {
      const request = encodeRequest({ method: "GET", target });
      const reply = await this.#transport.exchange(call, undefined, "GET", request);
      const { head, lease } = reply;
      if (head.status !== 200) throw await this.#transport.readFailure("GET", target, reply);
      const text = await this.#transport.createResponse("GET", head, lease, SMALL_BODY_MAX).text();
      return { headers: head.headers, text };
    } finally {
      call.end();
    }
  }

  #late(what: string, reason: "timeout" | "silent") {
    const message = `The container engine at ${this.endpoint.address} ${what}`;
    return new EngineUnreachableError(message, reason);
  }

  #closedError() {
    return new EngineUnreachableError("The container engine's client is closed", "closed");
  }
}

function encodeQuery(query: RequestOptions["query"]): string {
  let text = "";
  for (const name in query) {
    const value = query[name];
    if (value === undefined) continue;
    text += `${text ? "&" : "?"}${encodeURIComponent(name)}=${encodeURIComponent(value)}`;
  }
  return text;
}

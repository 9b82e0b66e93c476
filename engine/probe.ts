/** Checks whether the engine is reachable, and which version it supports. @module */

import { type Call, waitDuring } from "./call.ts";
import { EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import { copyFailure, messageOf } from "./failures.ts";
import { isAtLeast } from "./query.ts";
import { API_VERSION_MAX, negotiateVersion } from "./version.ts";

/** The response to a request that needs no version. */
export interface PlainResponse {
  headers: ReadonlyMap<string, string>;
  text: string;
}

export interface EngineProbeOptions {
  /** Of the engine, for messages. */
  address: string;
  /** Sends `GET target` without waiting for other requests, and reads the whole response. */
  send: (target: string) => Promise<PlainResponse>;
  /**
   * Called when the engine becomes unreachable; `isSilent` if a probe found out: it may accept
   * connections, but does not respond.
   */
  onLost: (failure: EngineUnreachableError, isSilent: boolean) => void;
  now: () => number;
  /** Longest wait of a request for the probe of an unreachable engine, in milliseconds. */
  patienceMs: number;
}

/** Delay before the next probe of an unreachable engine, in milliseconds; doubles with each failure. */
const DELAY_MIN_MS = 250;
const DELAY_MAX_MS = 1_000;

/** Pings the engine: at first, after suspicious failures, and while it is unreachable. */
export class EngineProbe {
  readonly #options: EngineProbeOptions;
  /** Why requests fail immediately; undefined while the engine is reachable. */
  #failure: EngineUnreachableError | undefined;
  #delayMs = DELAY_MIN_MS;
  #probeAt = 0;
  #engine: { apiVersion: string; kind: "docker" | "podman" } | undefined;
  #running: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: EngineProbeOptions) {
    this.#options = options;
  }

  /** The version that was negotiated when the engine was last reachable. */
  get apiVersion(): string | undefined {
    return this.#engine?.apiVersion;
  }

  get kind(): "docker" | "podman" | undefined {
    return this.#engine?.kind;
  }

  /** The version to use; undefined if `establish()` must be called first. */
  get version(): string | undefined {
    return this.#failure || this.#isClosed ? undefined : this.#engine?.apiVersion;
  }

  /**
   * Waits for a successful probe: at first as long as it takes, after a failure at most
   * `patienceMs`, and not at all if the last probe failed recently.
   *
   * @returns The version to use.
   * @throws {EngineUnreachableError}
   */
  async establish(call: Call): Promise<string> {
    const failure = this.#failure;
    const isDue = this.#options.now() >= this.#probeAt;
    if (failure && !this.#running && !isDue) throw copyFailure(failure);
    const probe = this.#startProbe();
    if (!failure) {
      await waitDuring(call, probe);
    } else {
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(
        () => patience.reject(copyFailure(failure)),
        this.#options.patienceMs,
      );
      try {
        await waitDuring(call, Promise.race([probe, patience.promise]));
      } finally {
        clearTimeout(timer);
      }
    }
    return this.version ?? await this.establish(call);
  }

  /**
   * Starts a probe in the background, after a failure that does not prove the engine unreachable.
   */
  suspect(): void {
    if (!this.#isClosed && !this.#failure) this.#startProbe();
  }

  recordLoss(failure: EngineUnreachableError): void {
    this.#fail(failure, false);
  }

  /** Discards the version, which the engine no longer accepts. */
  forgetVersion(): void {
    this.#engine = undefined;
  }

  close(): void {
    this.#isClosed = true;
  }

  #startProbe(): Promise<void> {
    this.#running ??= this.#run().finally(() => this.#running = undefined);
    // Waiting callers get the failure; without any, it must not be reported as unhandled.
    this.#running.catch(() => {});
    return this.#running;
  }

  async #run(): Promise<void> {
    const { address, send } = this.#options;
    try {
      const ping = await send("/_ping");
      const newest = ping.headers.get("api-version") ?? "";
      if (!/^\d+\.\d+$/.test(newest)) {
        throw new EngineProtocolError(
          `The process listening at ${address} is not a container engine`,
        );
      }
      this.#engine = {
        apiVersion: negotiateVersion(newest, await this.#fetchOldest(newest)),
        kind: ping.headers.has("libpod-api-version") ? "podman" : "docker",
      };
      this.#failure = undefined;
    } catch (error) {
      const failure = error instanceof EngineUnreachableError ? error : new EngineUnreachableError(
        `The container engine at ${address} is not ready: ${messageOf(error)}`,
        "broken",
        { cause: error },
      );
      if (!this.#isClosed) this.#fail(failure, true);
      throw failure;
    }
  }

  /** Only an engine newer than this client may no longer support its versions. */
  async #fetchOldest(newest: string): Promise<string | undefined> {
    if (isAtLeast(API_VERSION_MAX, newest)) return undefined;
    try {
      const { text } = await this.#options.send("/version");
      return JSON.parse(text).MinAPIVersion;
    } catch (error) {
      if (error instanceof EngineUnreachableError) throw error;
      // A proxy may refuse the call.
      return undefined;
    }
  }

  #fail(failure: EngineUnreachableError, byProbe: boolean): void {
    const wasLost = this.#failure !== undefined;
    this.#failure = failure;
    // Of an engine that is known to be unreachable, only a failed probe postpones the next one.
    if (byProbe || !wasLost) {
      this.#delayMs = wasLost ? Math.min(this.#delayMs * 2, DELAY_MAX_MS) : DELAY_MIN_MS;
      this.#probeAt = this.#options.now() + this.#delayMs;
    }
    this.#options.onLost(failure, byProbe);
  }
}

/**
 * Whether the engine is there, and which version it speaks.
 *
 * @module
 */

import { type Call, during } from "./call.ts";
import { Circuit } from "./circuit.ts";
import { EngineProtocolError, EngineUnreachableError } from "./errors.ts";
import { again, messageOf } from "./failures.ts";
import { isAtLeast } from "./query.ts";
import { API_VERSION_MAX, commonVersion } from "./version.ts";

/** What the engine answers to a request that needs no version. */
export interface PlainAnswer {
  headers: ReadonlyMap<string, string>;
  text: string;
}

export interface EngineProbeOptions {
  socketPath: string;
  /** Sends `GET target` and reads the answer whole, however busy the client is. */
  ask: (target: string) => Promise<PlainAnswer>;
  /**
   * Told when the engine turns out to be away; `isSilent` when it can be connected to, but gives
   * no sign of life.
   */
  onLost: (failure: EngineUnreachableError, isSilent: boolean) => void;
  now: () => number;
  /** How long a request waits for the sign of an engine that was away; milliseconds. */
  patienceMs: number;
}

/** Pings the engine: at first, when something looks wrong, and after it was away. */
export class EngineProbe {
  readonly #options: EngineProbeOptions;
  readonly #circuit: Circuit;
  #engine: { apiVersion: string; kind: "docker" | "podman" } | undefined;
  #probe: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: EngineProbeOptions) {
    this.#options = options;
    this.#circuit = new Circuit(options.now);
  }

  /** As it was when the engine was last there. */
  get apiVersion(): string | undefined {
    return this.#engine?.apiVersion;
  }

  get kind(): "docker" | "podman" | undefined {
    return this.#engine?.kind;
  }

  /** The version to speak now; undefined when `establish()` is to be asked. */
  get version(): string | undefined {
    return this.#circuit.failure || this.#isClosed ? undefined : this.#engine?.apiVersion;
  }

  /**
   * Waits for the engine's sign of life: at first as long as it takes, after a failure only as long
   * as a living engine needs, and not at all shortly after.
   *
   * @returns The version to speak.
   * @throws {EngineUnreachableError}
   */
  async establish(call: Call): Promise<string> {
    const { failure } = this.#circuit;
    if (failure && !this.#probe && !this.#circuit.isProbeDue) throw again(failure);
    const probe = this.#startProbe();
    if (!failure) {
      await during(call, probe);
    } else {
      const patience = Promise.withResolvers<void>();
      const timer = setTimeout(() => patience.reject(again(failure)), this.#options.patienceMs);
      try {
        await during(call, Promise.race([probe, patience.promise]));
      } finally {
        clearTimeout(timer);
      }
    }
    return this.version ?? await this.establish(call);
  }

  /** Something went wrong that a living engine may cause as well: finds out in the background. */
  suspect(): void {
    if (!this.#isClosed && !this.#circuit.failure) this.#startProbe();
  }

  /** The engine cannot be connected to. */
  lost(failure: EngineUnreachableError): void {
    this.#open(failure, false);
  }

  /** The engine does not speak that version any more. */
  forgetVersion(): void {
    this.#engine = undefined;
  }

  /** No more probes. */
  close(): void {
    this.#isClosed = true;
  }

  #startProbe(): Promise<void> {
    this.#probe ??= this.#probed().finally(() => this.#probe = undefined);
    // Those who wait for it are told; nobody has to wait.
    this.#probe.catch(() => {});
    return this.#probe;
  }

  async #probed(): Promise<void> {
    const { socketPath, ask } = this.#options;
    try {
      const ping = await ask("/_ping");
      const newest = ping.headers.get("api-version") ?? "";
      if (!/^\d+\.\d+$/.test(newest)) {
        throw new EngineProtocolError(`What listens at ${socketPath} is no container engine`);
      }
      this.#engine = {
        apiVersion: commonVersion(newest, await this.#oldest(newest)),
        kind: ping.headers.has("libpod-api-version") ? "podman" : "docker",
      };
      this.#circuit.close();
    } catch (error) {
      const failure = error instanceof EngineUnreachableError ? error : new EngineUnreachableError(
        `The container engine at ${socketPath} is not ready: ${messageOf(error)}`,
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
    const { text } = await this.#options.ask("/version");
    try {
      return JSON.parse(text).MinAPIVersion;
    } catch {
      return undefined;
    }
  }

  #open(failure: EngineUnreachableError, byProbe: boolean): void {
    this.#circuit.open(failure, { byProbe });
    this.#options.onLost(failure, byProbe);
  }
}

/**
 * A circuit breaker: while the engine is unreachable, requests fail immediately.
 *
 * @module
 */

import type { EngineUnreachableError } from "./errors.ts";

/** Delay before the first probe, in milliseconds; doubles with each failed probe. */
const DELAY_MIN_MS = 250;
const DELAY_MAX_MS = 1_000;

/** Closed, it lets requests through; open, it refuses them until a probe succeeds. */
export class Circuit {
  readonly #now: () => number;
  #failure: EngineUnreachableError | undefined;
  #delayMs = DELAY_MIN_MS;
  #probeAt = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why it is open; undefined while closed. */
  get failure(): EngineUnreachableError | undefined {
    return this.#failure;
  }

  /** Whether it has been open long enough for another probe. */
  get isProbeDue(): boolean {
    return this.#failure !== undefined && this.#now() >= this.#probeAt;
  }

  /** Opens the circuit. If it is already open, only a failed probe postpones the next one. */
  open(failure: EngineUnreachableError, { byProbe }: { byProbe: boolean }): void {
    const wasOpen = this.#failure !== undefined;
    this.#failure = failure;
    if (wasOpen && !byProbe) return;
    this.#delayMs = wasOpen ? Math.min(this.#delayMs * 2, DELAY_MAX_MS) : DELAY_MIN_MS;
    this.#probeAt = this.#now() + this.#delayMs;
  }

  close(): void {
    this.#failure = undefined;
  }
}

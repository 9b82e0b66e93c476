/**
 * Remembers that the engine does not answer, so that not everyone has to find out.
 *
 * @module
 */

import type { EngineUnreachableError } from "./errors.ts";

/** Wait before the first probe, in milliseconds; doubles with each that fails. */
const DELAY_MIN_MS = 250;
const DELAY_MAX_MS = 1_000;

/** Closed lets requests through; open refuses them until a probe succeeds. */
export class Circuit {
  readonly #now: () => number;
  #failure: EngineUnreachableError | undefined;
  #delayMs = DELAY_MIN_MS;
  #probeAt = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Why it is open; undefined while it is closed. */
  get failure(): EngineUnreachableError | undefined {
    return this.#failure;
  }

  /** Whether it is open, and has been for long enough to try again. */
  get isProbeDue(): boolean {
    return this.#failure !== undefined && this.#now() >= this.#probeAt;
  }

  /** Opens it. Where it is open already, only a failed probe postpones the next one. */
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

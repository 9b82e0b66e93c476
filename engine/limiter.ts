/**
 * A bound on how many requests run at the same time.
 *
 * @module
 */

import type { Call } from "./call.ts";
import { EngineUnreachableError } from "./errors.ts";

/** Lets a number of calls in; more wait in the order in which they came. */
export class EngineLimiter {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting = new Set<{ call: Call; enter: () => void }>();
  #inside = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** @returns Whether there was room; only then `leave()` is to be called. */
  tryEnter(): boolean {
    if (this.#inside >= this.#max) return false;
    this.#inside++;
    return true;
  }

  /**
   * Waits for room.
   *
   * @throws {EngineUnreachableError} `busy` when too many wait already; else the call's reason.
   */
  enter(call: Call): Promise<void> {
    if (this.#waiting.size >= this.#waitingMax) {
      return Promise.reject(
        new EngineUnreachableError(
          "Too many requests are waiting for the container engine",
          "busy",
        ),
      );
    }
    return new Promise((resolve, reject) => {
      const waiter = { call, enter: resolve };
      this.#waiting.add(waiter);
      call.interrupt = () => {
        // Whoever was let in already has to leave.
        if (this.#waiting.delete(waiter)) reject(call.failure?.reason);
      };
    });
  }

  leave(): void {
    for (const waiter of this.#waiting) {
      // The room goes to the one who has waited longest.
      this.#waiting.delete(waiter);
      waiter.enter();
      return;
    }
    this.#inside--;
  }

  /** Sends away all who wait. */
  failWaiting(reason: () => unknown): void {
    for (const { call } of this.#waiting) call.fail(reason());
  }
}

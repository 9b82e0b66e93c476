/** Limits how many requests run at the same time. @module */

import type { Call } from "./call.ts";
import { EngineUnreachableError } from "./errors.ts";

/** Admits a limited number of calls; further calls wait in order of arrival. */
export class EngineLimiter {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting = new Set<{ call: Call; admit: () => void }>();
  #running = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** @returns Whether the call was admitted; if so, `release()` must be called. */
  tryAcquire(): boolean {
    if (this.#running >= this.#max) return false;
    this.#running++;
    return true;
  }

  /**
   * Waits until the call is admitted; `release()` must then be called.
   *
   * @throws {EngineUnreachableError} `busy` if too many calls are waiting.
   * @throws The reason of a call that is ended while it waits.
   */
  acquire(call: Call): Promise<void> {
    if (this.#waiting.size >= this.#waitingMax) {
      return Promise.reject(
        new EngineUnreachableError(
          "Too many requests are waiting for the container engine",
          "busy",
        ),
      );
    }
    return new Promise((resolve, reject) => {
      const waiter = { call, admit: resolve };
      this.#waiting.add(waiter);
      call.interrupt = () => {
        // A call that was already admitted continues and releases its slot itself.
        if (this.#waiting.delete(waiter)) reject(call.failure?.reason);
      };
    });
  }

  release(): void {
    for (const waiter of this.#waiting) {
      // The slot goes to the call that has waited longest.
      this.#waiting.delete(waiter);
      waiter.admit();
      return;
    }
    this.#running--;
  }

  failWaiting(reason: () => unknown): void {
    for (const { call } of this.#waiting) call.fail(reason());
  }
}

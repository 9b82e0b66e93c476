/** One request in progress. @module */

/**
 * Lets the caller's signal or a deadline end a request at any point. Code that waits (for its turn,
 * a connection, a response) sets `interrupt` and checks `failure` when the wait fails.
 */
export class Call {
  /** Why the call was ended early; the cause of all errors after it. */
  failure: { reason: unknown } | undefined;
  /** Ends the current wait. */
  interrupt: (() => void) | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #active: Set<Call>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param active Contains the call until it ends. */
  constructor(signal: AbortSignal | undefined, active: Set<Call>) {
    this.#signal = signal;
    this.#active = active;
    active.add(this);
    signal?.addEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = () => this.fail(this.#signal!.reason);

  /** Ends the call early. Only the first reason counts. */
  fail(reason: unknown): void {
    this.failure ??= { reason };
    this.interrupt?.();
  }

  throwIfFailed(): void {
    if (this.failure) throw this.failure.reason;
  }

  /** Calls `onTimeout` after `ms` and cancels the previous timer. */
  setTimer(ms: number, onTimeout: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(onTimeout, ms);
  }

  clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** Removes the signal and the deadline of a finished call. May be called repeatedly. */
  end(): void {
    this.clearTimer();
    this.interrupt = undefined;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#active.delete(this);
  }
}

/**
 * Waits for `work`, at most until the call is ended.
 *
 * @throws The reason of an ended call; `work` continues.
 */
export async function waitDuring<T>(call: Call, work: Promise<T>): Promise<T> {
  call.throwIfFailed();
  const interrupted = Promise.withResolvers<never>();
  call.interrupt = () => interrupted.reject(call.failure?.reason);
  try {
    return await Promise.race([work, interrupted.promise]);
  } finally {
    call.interrupt = undefined;
  }
}

/**
 * One request on its way.
 *
 * @module
 */

/**
 * Knows what a request waits for at the moment (its turn, a connection, an answer), so that its
 * caller's signal or its own deadline can end it there. Whoever waits sets `interrupt`, and asks
 * `failure` when the wait failed.
 */
export class Call {
  /** Why the call was ended early; whatever failed then failed because of it. */
  failure: { reason: unknown } | undefined;
  /** Ends the present wait. */
  interrupt: (() => void) | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #active: Set<Call>;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** @param active Where the call is listed until its end. */
  constructor(signal: AbortSignal | undefined, active: Set<Call>) {
    this.#signal = signal;
    this.#active = active;
    active.add(this);
    signal?.addEventListener("abort", this.#onAbort);
  }

  readonly #onAbort = () => this.fail(this.#signal!.reason);

  /** Ends the call; the first reason counts. */
  fail(reason: unknown): void {
    this.failure ??= { reason };
    this.interrupt?.();
  }

  throwIfFailed(): void {
    if (this.failure) throw this.failure.reason;
  }

  /** Calls `onTime` in `ms`, instead of what was to be called before. */
  setTimer(ms: number, onTime: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(onTime, ms);
  }

  clearTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** The call is over: neither signal nor deadline matters any more. May be called again. */
  end(): void {
    this.clearTimer();
    this.interrupt = undefined;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#active.delete(this);
  }
}

/**
 * Waits for `work`, but no longer than the call is let live.
 *
 * @throws The call's reason, when it was ended meanwhile; `work` goes on then.
 */
export async function during<T>(call: Call, work: Promise<T>): Promise<T> {
  call.throwIfFailed();
  const interrupted = Promise.withResolvers<never>();
  call.interrupt = () => interrupted.reject(call.failure?.reason);
  try {
    return await Promise.race([work, interrupted.promise]);
  } finally {
    call.interrupt = undefined;
  }
}

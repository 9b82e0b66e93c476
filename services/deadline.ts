/** Time limits. @module */

/**
 * Returns what `promise` resolves to, or `undefined` if that takes longer than `ms`. The work goes
 * on, and a later failure is ignored.
 */
export async function withDeadline<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const deadline = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    return await Promise.race([promise, deadline]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns what `promise` resolves to.
 *
 * @throws The signal's reason if it aborts first; a later failure of the promise is ignored.
 */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([promise, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/**
 * Runs `work` with a signal that aborts after `timeoutMs`, or with the caller's `signal`.
 *
 * @throws What `timeoutError` returns, or the reason of `signal`, whatever the work then throws.
 */
export async function withTimeLimit<T>(
  { timeoutMs, timeoutError, signal }: {
    timeoutMs: number;
    timeoutError: (timeoutMs: number) => Error;
    signal?: AbortSignal | undefined;
  },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  signal?.throwIfAborted();
  const limit = new AbortController();
  const onAbort = () => limit.abort(signal!.reason);
  const timer = setTimeout(() => limit.abort(timeoutError(timeoutMs)), timeoutMs);
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await abortable(work(limit.signal), limit.signal);
  } catch (error) {
    limit.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

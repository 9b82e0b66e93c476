/** Waits for a time, for a signal, and for the event loop. @module */

/** Yields at once and then after every `intervalMs`, until `signal` aborts. Rounds never overlap. */
export async function* every(intervalMs: number, signal: AbortSignal): AsyncGenerator<void> {
  while (!signal.aborted) {
    yield;
    await sleep(intervalMs, signal);
  }
}

/** Waits for `ms`, or until `signal` aborts. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal?.addEventListener("abort", done, { once: true });
  });
}

/** Waits until `signal` aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

/**
 * Lets pending requests and timers run. A timer is used because `setImmediate` and message channels
 * run before requests that wait to be read.
 */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Longest slice of work that may block the event loop, in milliseconds. */
const SLICE_MS = 4;

/**
 * Creates a function to call between the small steps of long work: it yields to the event loop when
 * the current slice has taken its time.
 *
 * @param signal Stops the work: the function throws its reason.
 */
export function createYield(signal?: AbortSignal): () => Promise<void> {
  let startedAt = performance.now();
  return async () => {
    signal?.throwIfAborted();
    if (performance.now() - startedAt < SLICE_MS) return;
    await yieldToEventLoop();
    signal?.throwIfAborted();
    startedAt = performance.now();
  };
}

/** Long work in slices, between which the event loop runs. @module */

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

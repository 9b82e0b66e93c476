/**
 * Long work in slices, so that nobody else has to wait for its end.
 *
 * @module
 */

/** How long a slice may keep everything else waiting, in milliseconds. */
const SLICE_MS = 4;

/**
 * Lets everything else that is ready have its turn. By a timer: what comes by `setImmediate` or a
 * message channel goes before requests that wait to be read.
 */
export const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/**
 * Makes what is called between two small steps of long work: it is over soon, or after everybody
 * else had their turn.
 *
 * @param signal Ends the work, by throwing its reason.
 */
export function createPause(signal?: AbortSignal): () => Promise<void> {
  let began = performance.now();
  return async () => {
    signal?.throwIfAborted();
    if (performance.now() - began < SLICE_MS) return;
    await turn();
    signal?.throwIfAborted();
    began = performance.now();
  };
}

/**
 * Results that are promises only where something has to be waited for. Most reads are answered from
 * memory, and a promise for each of their steps costs half of their time.
 *
 * @module
 */

export type MaybePromise<T> = T | Promise<T>;

/** Passes a result to the next step: at once, or when the promise is fulfilled. */
export function after<T, R>(
  result: MaybePromise<T>,
  next: (value: T) => MaybePromise<R>,
): MaybePromise<R> {
  return result instanceof Promise ? result.then(next) : next(result);
}

/** Transforms streams. @module */

/**
 * Applies a generator to a source, and releases the source as soon as the reader stops. A generator
 * alone would hold the source (here, a connection) until its next value, or forever if it was never
 * started.
 */
export function transform<In, Out>(
  source: AsyncIterable<In>,
  generate: (source: AsyncIterable<In>) => AsyncGenerator<Out, void, undefined>,
): AsyncIterableIterator<Out> {
  const input = source[Symbol.asyncIterator]();
  const output = generate({ [Symbol.asyncIterator]: () => input });
  return {
    next: () => output.next(),
    async return() {
      await input.return?.();
      await output.return();
      return { done: true, value: undefined };
    },
    [Symbol.asyncIterator]() {
      return this;
    },
  };
}

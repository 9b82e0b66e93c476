/**
 * Streams made from streams.
 *
 * @module
 */

/**
 * What `generate` makes of a source. A generator alone would hold its source (here: a connection)
 * until its next value comes, and for ever where nothing was asked of it; this one lets it go as
 * soon as its reader leaves.
 */
export function transformed<In, Out>(
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

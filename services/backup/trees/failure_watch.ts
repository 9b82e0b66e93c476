/** Failures of streams that others read, who say only that a stream has ended. @module */

export interface FailureWatch {
  watch<Item>(items: AsyncIterable<Item>): AsyncGenerator<Item>;
  /** The last failure; `undefined` if there was none. */
  failure(): unknown;
}

export function createFailureWatch(): FailureWatch {
  let failure: unknown;
  return {
    async *watch(items) {
      try {
        yield* items;
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    failure: () => failure,
  };
}

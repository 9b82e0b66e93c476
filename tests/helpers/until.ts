/** Waits for conditions outside of the test. @module */

/** Shortest interval between two checks of a condition, in milliseconds. */
const INTERVAL_MS = 20;

/** Longest interval. Many checks take 10 to 20 ms of the processor, such as a search in a page. */
const INTERVAL_MAX_MS = 300;

/** Up to the longest one, an interval is this part of the time that has passed. */
const INTERVAL_PART = 1 / 10;

/**
 * Waits until `condition` returns a value other than `undefined` and `false`, and returns it.
 *
 * @param what The condition in words, for the error: `until("the container is gone", ...)`.
 * @param options.deadlineMs Default 120 000: only a failing test waits that long, and machines may be busy.
 * @throws {Error} At the deadline, with the last error of the condition as its cause. Earlier errors
 * count as "not yet".
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { deadlineMs = 120_000 }: { deadlineMs?: number } = {},
): Promise<Exclude<T, undefined | false>> {
  const start = performance.now();
  const end = start + deadlineMs;
  let cause: unknown;
  do {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    // Many checks start a program, which would slow down what a long wait is for.
    const elapsed = performance.now() - start;
    const interval = Math.min(Math.max(elapsed * INTERVAL_PART, INTERVAL_MS), INTERVAL_MAX_MS);
    await new Promise((resolve) => setTimeout(resolve, interval));
  } while (performance.now() < end);
  throw new Error(`Still waiting after ${deadlineMs} ms: ${what}`, { cause });
}

/**
 * Repeats assertions about what changes meanwhile until they hold:
 * `eventually(async () => equal(await count(), 2))`.
 *
 * @throws The last failure, at the deadline of {@linkcode until}.
 */
export async function eventually(assertions: () => unknown): Promise<void> {
  try {
    await until("the assertions hold", async () => {
      await assertions();
      return true;
    });
  } catch (error) {
    throw (error as Error).cause ?? error;
  }
}

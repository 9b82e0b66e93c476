/**
 * Waiting for something that happens outside of the test.
 *
 * @module
 */

/** How often a condition is looked at, in milliseconds. */
const LOOK_MS = 20;

/**
 * Waits until `condition` gives something other than `undefined` and `false`, and returns it.
 *
 * @param what What is waited for, for the failure: `until("the container is gone", ...)`.
 * @param options.deadlineMs Default 60 000: who waits in vain may wait long, and a busy machine is
 * slow.
 * @throws {Error} When it has not happened until then, with the last failure of the condition as
 * its cause. Failures before that count as "not yet".
 */
export async function until<T>(
  what: string,
  condition: () => T | Promise<T>,
  { deadlineMs = 60_000 }: { deadlineMs?: number } = {},
): Promise<Exclude<T, undefined | false>> {
  const end = performance.now() + deadlineMs;
  let cause: unknown;
  do {
    try {
      const value = await condition();
      if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  } while (performance.now() < end);
  throw new Error(`Still waiting after ${deadlineMs} ms: ${what}`, { cause });
}

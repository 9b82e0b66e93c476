/**
 * Assertions about durations on a machine that may be busy.
 *
 * @module
 */

/** Number of attempts; the majority decides. */
const TRIES = 5;

/**
 * Asserts that something happens within `limitMs` in the majority of attempts. A busy machine delays
 * some of them; code that is too slow is late most of the time.
 *
 * @param attempt Makes one attempt, waits for its result and returns the duration in milliseconds.
 */
export async function mostlyWithin(
  limitMs: number,
  what: string,
  attempt: () => Promise<number>,
  { tries = TRIES }: { tries?: number } = {},
): Promise<void> {
  const needed = Math.ceil(tries / 2);
  const took: number[] = [];
  const count = (isLate: boolean) => took.filter((ms) => ms > limitMs === isLate).length;
  while (count(false) < needed) {
    if (count(true) > tries - needed) {
      const list = took.map((ms) => Math.round(ms)).join(", ");
      throw new Error(`${what}: took ${list} ms, which is mostly more than ${limitMs} ms`);
    }
    took.push(await attempt());
  }
}

/** The duration of work, in milliseconds. */
export async function durationOf(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The shortest duration of work, in milliseconds: longer ones are caused by the machine. */
export async function leastDurationOf(work: () => unknown, tries = TRIES): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < tries; n++) took.push(await durationOf(work));
  return Math.min(...took);
}

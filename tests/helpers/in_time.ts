/**
 * Promises about time, judged on a machine that may be busy with something else.
 *
 * @module
 */

/** Tries; the majority decides. */
const TRIES = 5;

/**
 * Asserts that something happens within `limitMs` in the majority of tries. A busy machine makes
 * one of them late now and then; what is too slow by itself is late most of the time.
 *
 * @param attempt Does it once, waits until it has happened however long that takes, and gives how
 * long it took, in milliseconds.
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

/** How long work takes, in milliseconds. */
export async function durationOf(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The least that work takes, in milliseconds: what comes on top is the machine's. */
export async function leastDurationOf(work: () => unknown, tries = TRIES): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < tries; n++) took.push(await durationOf(work));
  return Math.min(...took);
}

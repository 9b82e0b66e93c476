/** Assertions about durations on a machine that may be busy. @module */

import { cpus, loadavg } from "node:os";
import { cpuUsage } from "node:process";

/** Number of attempts; the majority decides. */
const TRIES = 5;

/** Long enough to be interrupted by other programs that are busy, in milliseconds. */
const SAMPLE_MS = 20;

/**
 * Whether a duration is within a limit for an idle machine. On a busy one every step waits its turn,
 * of each program that has a part in it: the limit grows with the square of how busy it is.
 */
export const isInTime = (ms: number, limitMs: number): boolean =>
  ms <= limitMs || ms <= limitNow(limitMs);

/** Limit for an idle machine, extended for the load of now. */
export const limitNow = (limitMs: number): number => limitMs * busyness() ** 2;

/** Number of programs that want each processor, now or in the last minute; at least 1. */
function busyness(): number {
  const started = performance.now();
  const spent = processorMsSince(cpuUsage());
  while (spent() < SAMPLE_MS);
  return Math.max(1, (performance.now() - started) / SAMPLE_MS, loadavg()[0]! / cpus().length);
}

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
  const late: number[] = [];
  for (let good = 0; good < needed;) {
    const ms = await attempt();
    if (isInTime(ms, limitMs)) good++;
    else late.push(Math.round(ms));
    if (late.length > tries - needed) {
      throw new Error(`${what}: took mostly more than ${limitMs} ms: ${late.join(", ")} ms`);
    }
  }
}

/** The duration of work, in milliseconds. */
export async function durationOf(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}

/** The time of the processors that work takes, in milliseconds: others do not lengthen it. */
export async function processorMsOf(work: () => unknown): Promise<number> {
  const spent = processorMsSince(cpuUsage());
  await work();
  return spent();
}

/** The shortest time of the processors, in milliseconds: longer ones clean up after other work. */
export async function leastProcessorMsOf(work: () => unknown, tries = TRIES): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < tries; n++) took.push(await processorMsOf(work));
  return Math.min(...took);
}

const processorMsSince = (start: { user: number; system: number }) => () => {
  const { user, system } = cpuUsage(start as NodeJS.CpuUsage);
  return (user + system) / 1_000;
};

/** Time until a member dials its hub again. @module */

/** End of an attempt to be linked. */
export type Attempt =
  | "ended" // a link was open
  | "failed" // the hub could not be reached
  | "refused"; // the hub refused this host, or another machine has its key

/** Limits in milliseconds. */
const LEAST_MS = 1_000;
const MOST_MS = 30_000;

/** Times after a refusal, which only a person ends, in milliseconds. */
const REFUSED_MS = { least: 60_000, most: 300_000 };

/**
 * A random time (full jitter), so that hosts do not come back all at once. The range doubles with each
 * failure.
 *
 * @param failures Number of failures since the last open link.
 * @param random From 0 to 1.
 */
export function retryMs(attempt: Attempt, failures: number, random: number): number {
  const { least, most } = attempt === "refused"
    ? REFUSED_MS
    : { least: LEAST_MS, most: Math.min(MOST_MS, LEAST_MS * 2 ** (failures + 1)) };
  return least + random * (most - least);
}

/**
 * Response times as counts in buckets. Histograms of single hours add up to that of a month, which
 * percentiles themselves do not.
 *
 * @module
 */

/** How many response times lie in a bucket, by the bucket's number. */
export type Histogram = Record<string, number>;

/** Each bucket ends this much higher than the one before: what is read is at most 5 % too high. */
const GROWTH = 1.05;

/** Adds one time to a histogram, in place. @param ms Not negative. */
export function addTime(histogram: Histogram, ms: number): void {
  const bucket = bucketOf(ms);
  histogram[bucket] = (histogram[bucket] ?? 0) + 1;
}

/** Adds the counts of another histogram, in place. */
export function addHistogram(histogram: Histogram, other: Histogram): void {
  for (const [bucket, count] of Object.entries(other)) {
    histogram[bucket] = (histogram[bucket] ?? 0) + count;
  }
}

/**
 * The time that the given share of all times does not exceed (nearest rank), rounded up to its
 * bucket's end and to whole milliseconds; `null` without times.
 *
 * @param share Over 0, up to 1; e.g. 0.95.
 */
export function percentile(histogram: Histogram, share: number): number | null {
  const buckets = Object.entries(histogram)
    .map(([bucket, count]) => ({ bucket: Number(bucket), count }))
    .sort((a, b) => a.bucket - b.bucket);
  const total = buckets.reduce((sum, { count }) => sum + count, 0);
  const rank = Math.ceil(total * share);
  let seen = 0;
  for (const { bucket, count } of buckets) {
    seen += count;
    if (seen >= rank) return Math.ceil(GROWTH ** bucket);
  }
  return null;
}

/** Bucket 0 holds all up to 1 ms; bucket n all above `GROWTH ** (n - 1)` up to `GROWTH ** n`. */
const bucketOf = (ms: number) => ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH) - 1e-9);

/**
 * Histograms of response times. Unlike percentiles, histograms of hours can be added up to that of
 * a month.
 *
 * @module
 */

/** The count of each bucket by its number. */
export type Histogram = Record<string, number>;

/** The ratio of the bounds of consecutive buckets: a percentile is at most 5 % too high. */
const GROWTH = 1.05;

/** Adds a response time to a histogram, in place. @param ms Not negative. */
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
 * The response time that the given share does not exceed (nearest rank), rounded up to the end of
 * its bucket and to whole milliseconds; `null` for an empty histogram.
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

/** Bucket 0 is up to 1 ms; bucket n is above `GROWTH ** (n - 1)` and up to `GROWTH ** n`. */
const bucketOf = (ms: number) => ms <= 1 ? 0 : Math.ceil(Math.log(ms) / Math.log(GROWTH) - 1e-9);

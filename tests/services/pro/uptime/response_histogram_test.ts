import { equal, ok } from "node:assert/strict";
import {
  addHistogram,
  addTime,
  type Histogram,
  percentile,
} from "../../../../services/pro/uptime/response_histogram.ts";

function histogramOf(times: number[]): Histogram {
  const histogram: Histogram = {};
  for (const ms of times) addTime(histogram, ms);
  return histogram;
}

const upTo = (n: number) => Array.from({ length: n }, (_, i) => i + 1);

Deno.test("a percentile is at most five percent and a millisecond above the exact one", () => {
  for (
    const times of [[7], upTo(100), upTo(60_000), [0, 0, 1, 1, 2], [
      ...upTo(94),
      ...Array(6).fill(5_000),
    ]]
  ) {
    const sorted = times.toSorted((a, b) => a - b);
    for (const share of [0.5, 0.95, 0.99, 1]) {
      const exact = sorted[Math.ceil(sorted.length * share) - 1]!;
      const read = percentile(histogramOf(times), share)!;
      ok(
        read >= exact && read <= exact * 1.05 + 1,
        `${share} of ${times.length}: ${read} for ${exact}`,
      );
    }
  }
});

Deno.test("an empty histogram has no percentile", () => equal(percentile({}, 0.95), null));

Deno.test("histograms of hours add up to that of the day", () => {
  const day = histogramOf(upTo(1_000));
  const sum: Histogram = {};
  for (let hour = 0; hour < 10; hour++) {
    addHistogram(sum, histogramOf(upTo(1_000).slice(hour * 100, hour * 100 + 100)));
  }
  equal(JSON.stringify(sum), JSON.stringify(day));
});

/** Interval arithmetic. All results are sorted, disjoint and not empty. @module */

/** From `start` (inclusive) to `end` (exclusive), in Unix milliseconds. */
export interface Interval {
  start: number;
  end: number;
}

/** The times in at least one of the intervals. */
export function union(intervals: readonly Interval[]): Interval[] {
  const joined: Interval[] = [];
  for (const { start, end } of intervals.toSorted((a, b) => a.start - b.start)) {
    if (end <= start) continue;
    const last = joined.at(-1);
    if (last && start <= last.end) last.end = Math.max(last.end, end);
    else joined.push({ start, end });
  }
  return joined;
}

/** The parts of the intervals within `bounds`. */
export function clip(intervals: readonly Interval[], bounds: Interval): Interval[] {
  return union(intervals.map(({ start, end }) => ({
    start: Math.max(start, bounds.start),
    end: Math.min(end, bounds.end),
  })));
}

/** The times in the intervals but in none of `others`. */
export function subtract(intervals: readonly Interval[], others: readonly Interval[]): Interval[] {
  const holes = union(others);
  const left: Interval[] = [];
  let from = 0;
  for (const { start, end } of union(intervals)) {
    while (from < holes.length && holes[from]!.end <= start) from++;
    let at = start;
    for (let i = from; i < holes.length && holes[i]!.start < end; i++) {
      if (holes[i]!.start > at) left.push({ start: at, end: holes[i]!.start });
      at = Math.max(at, holes[i]!.end);
    }
    if (at < end) left.push({ start: at, end });
  }
  return left;
}

/** The length of the union, in milliseconds. */
export function totalMs(intervals: readonly Interval[]): number {
  return union(intervals).reduce((sum, { start, end }) => sum + end - start, 0);
}

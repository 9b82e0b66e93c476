/** Suggestions for misspelled names. @module */

/** Longer names are truncated, to bound the cost of a comparison. */
const COMPARED_MAX = 60;

/**
 * Returns the known name that is closest to `name`; `undefined` if none is close. Ignores case, `_`
 * and `-`, so that `duration_seconds` matches `durationSeconds`.
 */
export function nearest(name: string, known: readonly string[]): string | undefined {
  const given = comparable(name);
  let best: { name: string; distance: number } | undefined;
  for (const candidate of known) {
    const other = comparable(candidate);
    const distance = isBeginning(given, other) ? 1 : editDistance(given, other);
    const limit = Math.floor(Math.max(given.length, other.length) / 3);
    if (distance <= limit && (!best || distance < best.distance)) {
      best = { name: candidate, distance };
    }
  }
  return best?.name;
}

const comparable = (name: string) => name.slice(0, COMPARED_MAX).toLowerCase().replace(/[_-]/g, "");

/** Whether one name begins with the other, e.g. `duration` and `durationSeconds`. */
const isBeginning = (a: string, b: string) =>
  Math.min(a.length, b.length) >= 3 && (a.startsWith(b) || b.startsWith(a));

/** Counts the insertions, deletions, replacements and swaps of neighbors that turn `a` into `b`. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      row.push(Math.min(
        last[j]! + 1,
        row[j - 1]! + 1,
        last[j - 1]! + cost,
        isSwap ? beforeLast[j - 2]! + 1 : Infinity,
      ));
    }
    [beforeLast, last] = [last, row];
  }
  return last[b.length]!;
}

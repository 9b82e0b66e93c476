/** The order of names that contain numbers. @module */

/** Compares two names for a sort: `web-2` comes before `Web-10`. */
export function compareNatural(a: string, b: string): number {
  if (a === b) return 0;
  // Texts at even places, numbers at odd ones.
  const left = a.toLowerCase().split(/(\d+)/);
  const right = b.toLowerCase().split(/(\d+)/);
  for (let at = 0; at < Math.min(left.length, right.length); at++) {
    const [one, other] = [left[at]!, right[at]!];
    const difference = at % 2 === 1 ? Number(one) - Number(other) : compare(one, other);
    if (difference !== 0) return difference;
  }
  return left.length - right.length || compare(a, b);
}

const compare = (a: string, b: string): number => a < b ? -1 : Number(a > b);

/**
 * Unified diffs of texts.
 *
 * @see https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
 * @module
 */

/** A line that both texts have (` `), or only the first (`-`) or the second (`+`). */
interface Line {
  sign: " " | "-" | "+";
  text: string;
}

/** Unchanged lines around a change. */
const CONTEXT = 3;

/** Texts with more differences than this are shown as replaced: the time is quadratic. */
const DIFFERENCES_MAX = 500;

/** Steps that a comparison may still take. Texts for which they do not suffice are shown as replaced. */
export interface DiffBudget {
  left: number;
}

/** About a tenth of a second. */
export const newDiffBudget = (): DiffBudget => ({ left: 5_000_000 });

/**
 * Compares two texts line by line.
 *
 * @param budget That of all texts of one answer.
 * @returns The diff with a header and hunks; empty for equal texts.
 */
export function unifiedDiff(
  before: string,
  after: string,
  names: { from: string; to: string },
  budget = newDiffBudget(),
): string {
  if (before === after) return "";
  const lines = compareLines(linesOf(before), linesOf(after), budget);
  const counts = { "-": countLines(lines, "-"), "+": countLines(lines, "+") };
  const hunks = hunksOf(lines).map(({ start, end }) => printHunk(lines, counts, start, end));
  return `--- ${names.from}\n+++ ${names.to}\n${hunks.join("")}`;
}

/** The last line has no line feed, which the diff does not show. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

function compareLines(before: string[], after: string[], budget: DiffBudget): Line[] {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (
    end < before.length - start && end < after.length - start &&
    before.at(-1 - end) === after.at(-1 - end)
  ) end++;
  const same = (lines: string[]) => lines.map((text): Line => ({ sign: " ", text }));
  return [
    ...same(before.slice(0, start)),
    ...shortestEdit(
      before.slice(start, before.length - end),
      after.slice(start, after.length - end),
      budget,
    ),
    ...same(before.slice(before.length - end)),
  ];
}

/**
 * The shortest list of removed and added lines.
 *
 * @see E. W. Myers, An O(ND) Difference Algorithm and Its Variations (1986)
 */
function shortestEdit(before: string[], after: string[], budget: DiffBudget): Line[] {
  /** The furthest line of `before` on each diagonal (removed minus added lines), by the distance. */
  const furthest: Int32Array[] = [];
  let reached = new Int32Array(3);
  for (let distance = 0; distance <= DIFFERENCES_MAX && budget.left > 0; distance++) {
    furthest.push(reached);
    const next = new Int32Array(reached.length + 2);
    next.set(reached, 1);
    for (let diagonal = -distance; diagonal <= distance; diagonal += 2) {
      const start = isAddition(reached, diagonal, distance)
        ? at(reached, diagonal + 1, distance)
        : at(reached, diagonal - 1, distance) + 1;
      let x = start;
      while (
        x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]
      ) {
        x++;
      }
      budget.left -= 1 + x - start;
      next[diagonal + distance + 2] = x;
      if (x >= before.length && x - diagonal >= after.length) {
        return trace(furthest, before, after);
      }
    }
    reached = next;
  }
  return [
    ...before.map((text): Line => ({ sign: "-", text })),
    ...after.map((text): Line => ({ sign: "+", text })),
  ];
}

/** Whether the furthest path on a diagonal ends with an added line. */
const isAddition = (reached: Int32Array, diagonal: number, distance: number) =>
  diagonal === -distance ||
  (diagonal !== distance &&
    at(reached, diagonal - 1, distance) < at(reached, diagonal + 1, distance));

/** The diagonals of a distance are one more on both sides than the distance. */
const at = (reached: Int32Array, diagonal: number, distance: number): number =>
  reached[diagonal + distance + 1]!;

/** Follows the path back from the end of both texts. */
function trace(furthest: Int32Array[], before: string[], after: string[]): Line[] {
  const lines: Line[] = [];
  let [x, y] = [before.length, after.length];
  for (let distance = furthest.length - 1; distance >= 0; distance--) {
    const reached = furthest[distance]!;
    const diagonal = x - y;
    const isAdded = isAddition(reached, diagonal, distance);
    const previous = isAdded ? diagonal + 1 : diagonal - 1;
    const fromX = at(reached, previous, distance);
    const fromY = fromX - previous;
    while (x > fromX && y > fromY) {
      lines.push({ sign: " ", text: before[--x]! });
      y--;
    }
    if (distance === 0) break;
    if (isAdded) lines.push({ sign: "+", text: after[--y]! });
    else lines.push({ sign: "-", text: before[--x]! });
  }
  return lines.reverse();
}

/** Ranges of lines with changes and their context. */
function hunksOf(lines: Line[]): { start: number; end: number }[] {
  const hunks: { start: number; end: number }[] = [];
  for (const [index, { sign }] of lines.entries()) {
    if (sign === " ") continue;
    const end = Math.min(index + CONTEXT + 1, lines.length);
    const last = hunks.at(-1);
    if (last && index - CONTEXT <= last.end) last.end = end;
    else hunks.push({ start: Math.max(index - CONTEXT, 0), end });
  }
  return hunks;
}

/** The number of lines of the first (`-`) or second text (`+`) before each line of both. */
function countLines(lines: readonly Line[], sign: "-" | "+"): Uint32Array {
  const counts = new Uint32Array(lines.length + 1);
  for (const [at, line] of lines.entries()) {
    counts[at + 1] = counts[at]! + (line.sign === " " || line.sign === sign ? 1 : 0);
  }
  return counts;
}

function printHunk(
  lines: Line[],
  counts: Record<"-" | "+", Uint32Array>,
  start: number,
  end: number,
): string {
  const range = (sign: "-" | "+") => {
    const before = counts[sign][start]!;
    const length = counts[sign][end]! - before;
    const first = before + (length === 0 ? 0 : 1);
    return `${sign}${first}${length === 1 ? "" : `,${length}`}`;
  };
  const body = lines.slice(start, end).map(({ sign, text }) => `${sign}${text}\n`);
  return `@@ ${range("-")} ${range("+")} @@\n${body.join("")}`;
}

/**
 * Unified diffs of texts.
 *
 * @see https://www.gnu.org/software/diffutils/manual/html_node/Detailed-Unified.html
 * @module
 */

import { structuredPatch, type StructuredPatchHunk } from "diff";

/** Unchanged lines around a change. */
const CONTEXT = 3;

/** Texts with more changed lines than this are shown as replaced: the time is quadratic. */
const EDITS_MAX = 500;

/** Changed lines that may still be found. Texts for which they do not suffice are shown as replaced. */
export interface DiffBudget {
  left: number;
}

/** About a tenth of a second. */
export const newDiffBudget = (): DiffBudget => ({ left: 2_000 });

/**
 * Compares two texts line by line. The last line has no line feed, which the diff does not show.
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
  const [old, now] = [linesOf(before), linesOf(after)];
  const maxEditLength = Math.min(EDITS_MAX, budget.left);
  const patch = maxEditLength > 0
    ? structuredPatch("", "", old.join(""), now.join(""), "", "", {
      context: CONTEXT,
      maxEditLength,
    })
    : undefined;
  const hunks = patch?.hunks ?? [replacement(old, now)];
  const edits = hunks.flatMap(({ lines }) => lines).filter((line) => !line.startsWith(" "));
  budget.left -= patch ? edits.length : maxEditLength;
  return `--- ${names.from}\n+++ ${names.to}\n${hunks.map(printHunk).join("")}`;
}

/** The lines of a text, each with a line feed. */
function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines.map((line) => `${line}\n`);
}

const replacement = (before: string[], after: string[]): StructuredPatchHunk => ({
  oldStart: 1,
  oldLines: before.length,
  newStart: 1,
  newLines: after.length,
  lines: [...before.map((line) => `-${line}`), ...after.map((line) => `+${line}`)]
    .map((line) => line.slice(0, -1)),
});

function printHunk({ oldStart, oldLines, newStart, newLines, lines }: StructuredPatchHunk): string {
  const range = (start: number, count: number) =>
    `${count === 0 ? start - 1 : start}${count === 1 ? "" : `,${count}`}`;
  const body = lines.map((line) => `${line}\n`).join("");
  return `@@ -${range(oldStart, oldLines)} +${range(newStart, newLines)} @@\n${body}`;
}

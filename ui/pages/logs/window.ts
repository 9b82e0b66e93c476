/** Window of a log: the lines that are drawn, and their positions. @module */

import type { Entry } from "./buffer.ts";

/** Height of a line that is not wrapped, as in the style sheet. */
export const LINE_PX = 20;

/** Pixels above and below the visible part whose lines are drawn, too. */
const OVERSCAN_PX = 200;

/** The entries to draw, and the heights of those before and after them. */
export function windowOf(
  entries: readonly Entry[],
  heightOf: (entry: Entry) => number,
  top: number,
  height: number,
): { first: number; end: number; above: number; below: number } {
  let total = 0;
  for (const entry of entries) total += heightOf(entry);
  const visible = Math.min(top, Math.max(0, total - height));
  let first = 0;
  let above = 0;
  while (first < entries.length) {
    const px = heightOf(entries[first]!);
    if (above + px > visible - OVERSCAN_PX) break;
    above += px;
    first++;
  }
  let end = first;
  let drawn = 0;
  while (end < entries.length && above + drawn < visible + height + OVERSCAN_PX) {
    drawn += heightOf(entries[end++]!);
  }
  return { first, end, above, below: total - above - drawn };
}

/**
 * The newest entries. The height of those before them is only estimated: measured ones would have to
 * be added up again for each new line.
 */
export function lastOf(
  entries: readonly Entry[],
  heightOf: (entry: Entry) => number,
  height: number,
): ReturnType<typeof windowOf> {
  let first = entries.length;
  let drawn = 0;
  while (first > 0 && drawn < height + OVERSCAN_PX) drawn += heightOf(entries[--first]!);
  return { first, end: entries.length, above: first * LINE_PX, below: 0 };
}

/** A line, and the pixels of it that are above the visible part. */
export interface Anchor {
  entry: Entry | undefined;
  offset: number;
}

/** The elements of the drawn entries. */
export const rowsOf = (box: HTMLElement, drawn: readonly Entry[]) =>
  [...box.querySelectorAll<HTMLElement>(".log-line, .log-note")]
    .map((row, at) => ({ row, entry: drawn[at]! }));

/** The first visible entry, if it is drawn; the heights of those before it do not matter then. */
export function drawnAt(box: HTMLElement, drawn: readonly Entry[]): Anchor | undefined {
  const top = box.getBoundingClientRect().top + box.clientTop;
  for (const { row, entry } of rowsOf(box, drawn)) {
    const at = row.getBoundingClientRect();
    if (at.bottom <= top) continue;
    return at.top <= top ? { entry, offset: top - at.top } : undefined;
  }
  return undefined;
}

/** The first visible entry, by the heights of those before it. */
export function anchorAt(
  entries: readonly Entry[],
  heightOf: (entry: Entry) => number,
  top: number,
): Anchor {
  let at = 0;
  for (const entry of entries) {
    const px = heightOf(entry);
    if (at + px > top) return { entry, offset: top - at };
    at += px;
  }
  return { entry: undefined, offset: 0 };
}

/** Position of the anchor now, or of the line after it if it is gone. */
export function topOf(
  entries: readonly Entry[],
  heightOf: (entry: Entry) => number,
  { entry: anchor, offset }: Anchor,
): number {
  let top = 0;
  for (const entry of entries) {
    if (!anchor || entry.id >= anchor.id) return top + (entry === anchor ? offset : 0);
    top += heightOf(entry);
  }
  return top;
}

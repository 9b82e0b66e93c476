/**
 * The rows of a long table that are in the document: those near the window, and their elements.
 *
 * @module
 */

import { useEffect, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";

/** Rows that are rendered above and below the window; also the step in which they follow it. */
const OVERSCAN = 2;

/** The document gets the order of the rows when scrolling has paused for so long. */
const PAUSE_MS = 150;

/** Rows that fit above every table, below the banner and the heading. */
const ROWS_ABOVE = 3;

/** Heights of rows by density, as in the tokens of the style sheet. */
const ROW_PX = { comfortable: 44, compact: 34 };

export interface RowWindow {
  /** The first line that is rendered. */
  first: number;
  /** The one after the last. */
  end: number;
  /** Height of a line. */
  rowPx: number;
  /** Until scrolling has paused. */
  isMoving: boolean;
}

/** @param count Number of rows. */
export function useRowWindow(
  body: { current: HTMLElement | null },
  count: number,
  isVirtual: boolean,
): RowWindow {
  const rowPx = ROW_PX[document.documentElement.dataset.density as keyof typeof ROW_PX] ?? 44;
  // In steps, so that most scroll events change nothing.
  const stepPx = OVERSCAN * rowPx;
  const rowsIn = (top: number) => ({
    first: Math.max(0, Math.floor(top / stepPx) - 1) * OVERSCAN,
    end: Math.max(1, Math.ceil((top + innerHeight) / stepPx) + 1) * OVERSCAN,
    isMoving: false,
  });
  const range = useSignal(rowsIn(-ROWS_ABOVE * rowPx));
  useEffect(() => {
    if (!isVirtual) return;
    let pause: ReturnType<typeof setTimeout> | undefined;
    /** The rows that the window needs; `undefined` if it has them. */
    const needed = () => {
      if (!body.current) return undefined; // The page is being left.
      const next = rowsIn(-body.current.getBoundingClientRect().top);
      const { first, end, isMoving } = range.peek();
      return isMoving || next.first < first || next.end > end ? next : undefined;
    };
    const rest = () => {
      const next = needed() ?? range.peek();
      // At the top fewer rows are needed than further down, where scrolling would create the others.
      const end = Math.max(next.end, next.first + Math.ceil(innerHeight / stepPx + 1) * OVERSCAN);
      range.value = { ...next, end, isMoving: false };
    };
    const showAll = () => range.value = { first: 0, end: Infinity, isMoving: false };
    const showFew = () => {
      range.value = rowsIn(-(body.current?.getBoundingClientRect().top ?? 0));
    };
    const move = (event?: Event) => {
      const next = needed();
      if (next) range.value = { ...next, isMoving: event?.type === "scroll" };
      clearTimeout(pause);
      pause = setTimeout(rest, PAUSE_MS);
    };
    move();
    // A dialog scrolls instead of the window, and its events do not bubble.
    addEventListener("scroll", move, { passive: true, capture: true });
    addEventListener("resize", move);
    addEventListener("beforeprint", showAll);
    addEventListener("afterprint", showFew);
    return () => {
      clearTimeout(pause);
      removeEventListener("scroll", move, { capture: true });
      removeEventListener("resize", move);
      removeEventListener("beforeprint", showAll);
      removeEventListener("afterprint", showFew);
    };
  }, [isVirtual, rowPx, count]);
  const { first, end, isMoving } = range.value;
  if (!isVirtual) return { first: 0, end: count, rowPx, isMoving: false };
  return {
    first: Math.min(first, Math.max(0, count - OVERSCAN)),
    end: Math.min(count, end),
    rowPx,
    isMoving,
  };
}

/** A line in the order of the document: the number of its element, and its place among the lines. */
export interface Place<Line> {
  element: number;
  line: Line;
  at: number;
}

/**
 * The places of the lines from `first` to before `end`. A line that enters the window gets the element
 * of one that has left it, because other texts cost the browser less than new elements. While the
 * window moves, elements also stay where they are in the document, and those that are not needed stay
 * for the next step; otherwise the document has the order of the lines. Elements with the focus are
 * kept.
 */
export function usePlaces<Line extends { key: string }>(
  lines: readonly Line[],
  { first, end, isMoving, hasFocus }: {
    first: number;
    end: number;
    isMoving: boolean;
    hasFocus: boolean;
  },
): readonly Place<Line>[] {
  const places = useRef<readonly Place<Line>[]>([]);
  const created = useRef(0);
  const entering = new Map<string, { line: Line; at: number }>();
  for (let at = first; at < end; at++) entering.set(lines[at]!.key, { line: lines[at]!, at });
  const kept = places.current.map((before) => {
    const { key } = before.line;
    const place = entering.get(key);
    entering.delete(key);
    return { before, place };
  });
  const added = entering.values();
  const next: Place<Line>[] = [];
  for (const { before, place } of kept) {
    const taken = place ?? (hasFocus ? undefined : added.next().value);
    if (taken) next.push({ element: before.element, ...taken });
    else if (isMoving && lines[before.at] === before.line) next.push(before);
  }
  for (const place of added) next.push({ element: created.current++, ...place });
  if (!isMoving || hasFocus) next.sort((x, y) => x.at - y.at);
  return places.current = next;
}

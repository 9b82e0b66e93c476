/**
 * Selects the rows of a table that are in the document: all of a short one, those near the window of
 * a long one, whose elements show other rows when the window moves.
 *
 * @module
 */

import { useEffect, useReducer, useRef } from "preact/hooks";
import { batch, type Signal, signal } from "@preact/signals";

/** Rows that are rendered above and below the window; also the step in which they follow it. */
const OVERSCAN = 2;

/** The document gets the order of the rows when scrolling has paused for so long. */
const PAUSE_MS = 150;

/** Rows that fit above every table, below the banner and the heading. */
const ROWS_ABOVE = 3;

/** Heights of rows by density, as in the tokens of the style sheet. */
const ROW_PX = { comfortable: 44, compact: 34 };

export const rowHeight = (): number =>
  ROW_PX[document.documentElement.dataset.density as keyof typeof ROW_PX] ?? 44;

/** A line of a table, e.g. a row or the heading of a group. */
interface TableLine {
  key: string;
  kind: string;
}

/** What an element shows: a line, and its place among all lines. */
interface Place<Line> {
  line: Line;
  at: number;
}

/** An element of the table's body. It stays when it shows another line of the same kind. */
export interface Slot<Line> {
  readonly id: number;
  readonly place: Signal<Place<Line>>;
}

interface Range {
  first: number;
  /** The line after the last. */
  end: number;
  /** Until scrolling has paused. */
  isMoving: boolean;
}

/**
 * The elements of a table, in the order of the document. A scroll step changes what they show; it
 * draws the table again only if it needs other elements.
 *
 * @param options.isVirtual Whether only the lines near the window are in the document.
 * @param options.rowPx Height of a row.
 */
export function useSlots<Line extends TableLine>(
  body: { current: HTMLElement | null },
  lines: readonly Line[],
  { isVirtual, rowPx }: { isVirtual: boolean; rowPx: number },
): readonly Slot<Line>[] {
  const redraw = useReducer((count: number) => count + 1, 0)[1] as () => void;
  // In steps, so that most scroll events change nothing.
  const stepPx = OVERSCAN * rowPx;
  const rangeAt = (top: number): Range => ({
    first: Math.max(0, Math.floor(top / stepPx) - 1) * OVERSCAN,
    end: Math.max(1, Math.ceil((top + innerHeight) / stepPx) + 1) * OVERSCAN,
    isMoving: false,
  });
  const range = useRef<Range | undefined>(undefined);
  // At first only what is in sight, because a page has to appear at once.
  range.current ??= {
    first: 0,
    end: Math.ceil(innerHeight / rowPx) - ROWS_ABOVE,
    isMoving: false,
  };
  const slots = useRef<readonly Slot<Line>[]>([]);
  const fill = () => {
    const { first, end, isMoving } = range.current!;
    const { length } = lines;
    const hasFocus = body.current?.contains(document.activeElement) ?? false;
    return slots.current = fillSlots(slots.current, lines, {
      first: isVirtual ? Math.min(first, Math.max(0, length - OVERSCAN)) : 0,
      end: isVirtual ? Math.min(end, length) : length,
      isMoving: isVirtual && isMoving,
      canReuse: isVirtual && !hasFocus,
    });
  };
  /** With the lines of the last rendering, for listeners that outlive it. */
  const latest = useRef(fill);
  latest.current = fill;

  useEffect(() => {
    if (!isVirtual) return;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const show = (next: Range) => {
      range.current = next;
      const before = slots.current;
      if (latest.current() !== before) redraw();
    };
    /** The rows that the window needs; `undefined` if it has them. */
    const needed = () => {
      if (!body.current) return undefined; // The page is being left.
      const next = rangeAt(-body.current.getBoundingClientRect().top);
      const { first, end, isMoving } = range.current!;
      return isMoving || next.first < first || next.end > end ? next : undefined;
    };
    const rest = () => {
      const next = needed() ?? range.current!;
      // At the top fewer rows are needed than further down, where scrolling would create the others.
      const end = Math.max(next.end, next.first + Math.ceil(innerHeight / stepPx + 1) * OVERSCAN);
      show({ ...next, end, isMoving: false });
    };
    const showAll = () => show({ first: 0, end: Infinity, isMoving: false });
    const showFew = () => show(rangeAt(-(body.current?.getBoundingClientRect().top ?? 0)));
    const move = (event?: Event) => {
      const next = needed();
      if (next) show({ ...next, isMoving: event?.type === "scroll" });
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
  }, [isVirtual, rowPx, lines.length]);
  return fill();
}

let nextSlotId = 0;

/**
 * Lets slots show the lines from `first` to before `end`. A line that enters the window gets the slot
 * of one that has left it. While the window moves, slots also stay where they are in the document,
 * and those that are not needed stay for the next step; otherwise they get the order of the lines.
 *
 * @param options.canReuse Whether a slot may show another line.
 * @returns The same list if it has the same slots.
 */
function fillSlots<Line extends TableLine>(
  slots: readonly Slot<Line>[],
  lines: readonly Line[],
  { first, end, isMoving, canReuse }: Range & { canReuse: boolean },
): readonly Slot<Line>[] {
  const entering = new Map<string, Place<Line>>();
  for (let at = first; at < end; at++) entering.set(lines[at]!.key, { line: lines[at]!, at });
  const staying = slots.map(({ place }) => {
    const { key } = place.peek().line;
    const next = entering.get(key);
    entering.delete(key);
    return next;
  });
  const added = [...entering.values()];
  const addedOf = (kind: string) => {
    const at = added.findIndex(({ line }) => line.kind === kind);
    return at < 0 ? undefined : added.splice(at, 1)[0];
  };
  const next: Slot<Line>[] = [];
  batch(() => {
    for (const [index, slot] of slots.entries()) {
      const before = slot.place.peek();
      const place = staying[index] ?? (canReuse ? addedOf(before.line.kind) : undefined);
      if (place) {
        if (place.line !== before.line || place.at !== before.at) slot.place.value = place;
        next.push(slot);
      } else if (isMoving && lines[before.at] === before.line) {
        next.push(slot);
      }
    }
  });
  for (const place of added) next.push({ id: nextSlotId++, place: signal(place) });
  if (!isMoving || !canReuse) next.sort((x, y) => x.place.peek().at - y.place.peek().at);
  const isSame = next.length === slots.length && next.every((slot, at) => slot === slots[at]);
  return isSame ? slots : next;
}

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

/** Rows that are drawn at first, so that they appear at once. The next frame adds the others. */
const FIRST_ROWS = 10;

/** Heights of rows by density, as in the tokens of the style sheet. */
const ROW_PX = { comfortable: 44, compact: 34 };

export const rowHeight = (): number =>
  ROW_PX[document.documentElement.dataset.density as keyof typeof ROW_PX] ?? 44;

/** A line of a table, e.g. a row or the heading of a group. */
interface TableLine {
  key: string;
  kind: string;
}

/** Line of an element, and its place among all lines. */
interface Place<Line> {
  line: Line;
  at: number;
}

/** An element of the table's body. It stays when it shows another line of the same kind. */
export interface Slot<Line> {
  readonly id: number;
  readonly place: Signal<Place<Line>>;
  element: HTMLTableRowElement | null;
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
 * @param options.isHeld Whether no element may show another line now, besides while it has the focus.
 */
export function useSlots<Line extends TableLine>(
  body: { current: HTMLElement | null },
  lines: readonly Line[],
  { isVirtual, rowPx, isHeld }: { isVirtual: boolean; rowPx: number; isHeld: () => boolean },
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
  range.current ??= { first: 0, end: FIRST_ROWS, isMoving: false };
  const slots = useRef<Slots<Line>>(undefined);
  slots.current ??= new Slots();
  const fill = () => {
    const { first, end, isMoving } = range.current!;
    const { length } = lines;
    const hasFocus = body.current?.contains(document.activeElement) ?? false;
    return slots.current!.fill(lines, {
      first: Math.min(first, Math.max(0, length - OVERSCAN)),
      end: Math.min(end, length),
      isMoving: isVirtual && isMoving,
      canReuse: isVirtual && !hasFocus && !isHeld(),
    });
  };
  /** With the lines of the last rendering, for listeners that outlive it. */
  const latest = useRef(fill);
  latest.current = fill;

  useEffect(() => {
    if (lines.length === 0) return;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const show = (next: Range) => {
      range.current = next;
      const before = slots.current!.all;
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
    if (!isVirtual) return showAll();
    const showFew = () => show(rangeAt(-(body.current?.getBoundingClientRect().top ?? 0)));
    const move = (event?: Event) => {
      const next = needed();
      if (next) show({ ...next, isMoving: event?.type === "scroll" });
      clearTimeout(pause);
      pause = setTimeout(rest, PAUSE_MS);
    };
    if (range.current!.end === Infinity) showFew();
    else move();
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

/** The slots of a table. A step that only moves them creates little garbage. */
class Slots<Line extends TableLine> {
  all: readonly Slot<Line>[] = [];
  /** By the key of the line that it shows. */
  readonly #byKey = new Map<string, Slot<Line>>();
  /** Slots of the lines to show, while they are filled. */
  readonly #needed = new Set<Slot<Line>>();
  /** Lines that no slot shows yet, while they are filled. */
  readonly #entering: number[] = [];

  /**
   * Lets slots show the lines from `first` to before `end`. A line that enters the window gets the
   * slot of one that has left it. While the window moves, slots also stay where they are in the
   * document, and those that are not needed stay for the next step; otherwise they get the order of
   * the lines.
   *
   * @param options.canReuse Whether a slot may show another line.
   * @returns `all`: the same list as before if it has the same slots.
   */
  fill(
    lines: readonly Line[],
    { first, end, isMoving, canReuse }: Range & { canReuse: boolean },
  ): readonly Slot<Line>[] {
    batch(() => {
      for (let at = first; at < end; at++) {
        const slot = this.#byKey.get(lines[at]!.key);
        if (!slot) {
          this.#entering.push(at);
        } else {
          this.#needed.add(slot);
          this.#show(slot, lines[at]!, at);
        }
      }
      if (canReuse) this.#reuse(lines);
    });
    const next = this.all.filter((slot) => {
      const { line, at } = slot.place.peek();
      const stays = this.#needed.has(slot) || isMoving && lines[at] === line;
      if (!stays) this.#byKey.delete(line.key);
      return stays;
    });
    for (const at of this.#entering) {
      const line = lines[at]!;
      const slot = { id: nextSlotId++, place: signal({ line, at }), element: null };
      this.#byKey.set(line.key, slot);
      next.push(slot);
    }
    this.#needed.clear();
    this.#entering.length = 0;
    if (!isMoving || !canReuse) next.sort((x, y) => x.place.peek().at - y.place.peek().at);
    const isSame = next.length === this.all.length &&
      next.every((slot, at) => slot === this.all[at]);
    return isSame ? this.all : this.all = next;
  }

  /** Gives lines that enter the window the slots of those that have left it. */
  #reuse(lines: readonly Line[]): void {
    for (const slot of this.all) {
      if (this.#entering.length === 0) return;
      if (this.#needed.has(slot)) continue;
      const { key, kind } = slot.place.peek().line;
      const index = this.#entering.findIndex((at) => lines[at]!.kind === kind);
      if (index < 0) continue;
      const [at] = this.#entering.splice(index, 1);
      const line = lines[at!]!;
      this.#byKey.delete(key);
      this.#byKey.set(line.key, slot);
      this.#needed.add(slot);
      this.#show(slot, line, at!);
    }
  }

  #show({ place }: Slot<Line>, line: Line, at: number): void {
    const before = place.peek();
    if (before.line !== line || before.at !== at) place.value = { line, at };
  }
}

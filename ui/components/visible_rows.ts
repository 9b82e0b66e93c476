/** The rows of a table that are in the document: all of a short one, those near the window of a long one. @module */

import { useEffect, useMemo, useReducer } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { Virtualizer } from "@tanstack/virtual-core";

/** Rows above and below the window. */
const OVERSCAN = 2;

/** Distance of the first row from the top of the window on most pages, in pixels. */
const FIRST_TOP_PX = 200;

/** Heights of rows by density, in pixels, as in the tokens of the style sheet. */
const ROW_PX = { comfortable: 44, compact: 34 };

/** The height of a row with two lines, and the windows that have them. */
const TWO_LINES_PX = 62;
const PHONE = matchMedia("(max-width: 699px)");

/** Height of a row in pixels. @param isTwoLines Whether rows have two lines on a phone. */
export const rowHeight = (isTwoLines: boolean): number =>
  isTwoLines && PHONE.matches
    ? TWO_LINES_PX
    : ROW_PX[document.documentElement.dataset.density as keyof typeof ROW_PX] ??
      ROW_PX.comfortable;

/**
 * Indexes of the rows to render.
 *
 * @param count Number of all rows, which are `rowPx` high.
 * @param isVirtual Whether rows far from the window are left out. Printing includes them.
 */
export function useVisibleRows(
  body: { current: HTMLElement | null },
  count: number,
  rowPx: number,
  isVirtual: boolean,
): readonly number[] {
  const redraw = useReducer((round: number) => round + 1, 0)[1] as () => void;
  const isPrinting = usePrinting();
  const options = {
    count,
    enabled: isVirtual,
    overscan: OVERSCAN,
    estimateSize: () => rowPx,
    getScrollElement: () => body.current,
    initialRect: { width: innerWidth, height: innerHeight },
    initialOffset: -FIRST_TOP_PX,
    observeElementRect: observeWindow,
    observeElementOffset: observeOffset,
    // The user scrolls, nothing else.
    scrollToFn: () => {},
    onChange: redraw,
  };
  const virtualizer = useMemo(() => new Virtualizer<HTMLElement, HTMLElement>(options), []);
  virtualizer.setOptions(options);
  useEffect(() => virtualizer._didMount(), []);
  // Not before the first frame, because to measure costs another layout.
  useEffect(() => virtualizer._willUpdate(), [isVirtual]);
  useEffect(() => virtualizer.measure(), [rowPx]);
  return isVirtual && !isPrinting ? virtualizer.getVirtualIndexes() : [...Array(count).keys()];
}

type Rows = Virtualizer<HTMLElement, HTMLElement>;

function observeWindow(_: Rows, report: (rect: { width: number; height: number }) => void) {
  const onResize = () => report({ width: innerWidth, height: innerHeight });
  onResize();
  addEventListener("resize", onResize);
  return () => removeEventListener("resize", onResize);
}

/** Reports how far the first row is above the window, whether that scrolls or a dialog around it. */
function observeOffset({ scrollElement }: Rows, report: (px: number, isMoving: boolean) => void) {
  const onScroll = () => report(-scrollElement!.getBoundingClientRect().top, false);
  onScroll();
  // Scroll events of a dialog do not bubble.
  addEventListener("scroll", onScroll, { passive: true, capture: true });
  return () => removeEventListener("scroll", onScroll, { capture: true });
}

function usePrinting(): boolean {
  const isPrinting = useSignal(false);
  useEffect(() => {
    const start = () => isPrinting.value = true;
    const end = () => isPrinting.value = false;
    addEventListener("beforeprint", start);
    addEventListener("afterprint", end);
    return () => {
      removeEventListener("beforeprint", start);
      removeEventListener("afterprint", end);
    };
  }, []);
  return isPrinting.value;
}

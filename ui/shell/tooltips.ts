/**
 * Tooltips of what does not show its whole text. They are set when the pointer arrives: in long tables
 * they would cost time in each row.
 *
 * @module
 */

/** Leaves alone what has a `title` of its own. */
export function startTooltips(): void {
  document.addEventListener("pointerover", ({ target }) => {
    const element = (target as Element).closest<HTMLElement>(":is(.cut, .icon-only):not([title])");
    const text = element && textOf(element);
    if (!text) return;
    element.title = text;
    element.addEventListener("pointerleave", () => element.removeAttribute("title"), {
      once: true,
    });
  });
}

function textOf(element: HTMLElement): string | null {
  if (element.matches(".icon-only")) return element.ariaLabel;
  const { scrollWidth, clientWidth, scrollHeight, clientHeight } = element;
  return scrollWidth > clientWidth || scrollHeight > clientHeight ? element.textContent : null;
}

/** Checks of a page, as expressions that a real browser evaluates. @module */

/** Contrast of every text with its background (WCAG 2.2). */
export const LOWEST_CONTRAST = `(() => {
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const behind = (element) => {
    const color = numbers(getComputedStyle(element).backgroundColor);
    return color[3] === 0 ? behind(element.parentElement) : color;
  };
  let lowest = { ratio: Infinity, text: "" };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, textContent } = walker.currentNode;
    if (!textContent.trim() || parentElement.closest("style")) continue;
    const [a, b] = [light(numbers(getComputedStyle(parentElement).color)), light(behind(parentElement))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < lowest.ratio) lowest = { ratio, text: textContent.trim().slice(0, 60) };
  }
  return lowest;
})()`;

/** Elements that extend beyond the window. */
export const OVERFLOWING = `[...document.querySelectorAll("body *")]
  .filter((element) => element.getBoundingClientRect().right > innerWidth + 0.5)
  .map((element) => element.outerHTML.slice(0, 80))`;

/**
 * Writes cells of long tables into the elements that exist. Scrolling then creates little garbage,
 * whose collection would stop the page.
 *
 * @module
 */

import { stateClass, stateWord, type Tone } from "./states.tsx";
import { plain } from "./text.ts";
import { exactTime, timeFromNow } from "./time.tsx";

interface BadgeText {
  text: string;
  tone: Tone;
}

/** What a cell consists of, and the part of it that has the text. */
interface Content {
  shape: string;
  text: Text;
}

const contents = new WeakMap<HTMLElement, Content>();

/** One line of text from a container, shown whole on hover; `null` is a dash. */
export function writeText(cell: HTMLElement, text: string | null): void {
  if (text === null) return setText(textIn(cell, "dash", () => cell), "–");
  const shown = plain(text);
  setText(textIn(cell, "text", () => cell), shown);
  setAttribute(cell, "title", shown);
}

/** A number with its unit. */
export function writeNumber(cell: HTMLElement, text: string): void {
  setText(textIn(cell, "number", () => cell), text);
}

export function writeLink(
  cell: HTMLElement,
  { text, href, title, badge }: {
    text: string;
    href: string;
    title: string | undefined;
    badge: BadgeText | undefined;
  },
): void {
  const content = textIn(cell, "link", () => create("a", "name cut"), badge);
  const link = content.parentElement!;
  setText(content, text);
  setAttribute(link, "href", href);
  setAttribute(link, "title", title);
}

/** A word with a dot; `null` is a dash. */
export function writeState(cell: HTMLElement, state: string | null): void {
  if (state === null) return writeText(cell, null);
  const content = textIn(cell, "state", () => create("span", ""));
  setText(content, stateWord(state));
  setAttribute(content.parentElement!, "class", stateClass(state));
}

/** A path or an image: what does not fit is cut at its start, because its end matters most. */
export function writePath(cell: HTMLElement, text: string, badge: BadgeText | undefined): void {
  const shown = plain(text);
  const content = textIn(cell, "path", () => {
    // The direction chooses the side that is cut; the text itself has its own.
    const frame = create("span", "cut");
    frame.dir = "rtl";
    return frame.appendChild(document.createElement("bdi"));
  }, badge);
  setText(content, shown);
  setAttribute(content.parentElement!, "title", shown);
}

/** A time relative to now, with the exact one on hover; follows the time. `at` is ISO 8601. */
export function writeTime(cell: HTMLElement, at: string | null): void {
  if (at === null) return writeText(cell, null);
  const content = textIn(cell, "time", () => create("time", "cut"));
  const time = content.parentElement!;
  setText(content, timeFromNow(at));
  setAttribute(time, "datetime", at);
  setAttribute(time, "title", exactTime(at));
}

/**
 * The text of a cell. Its elements are created unless the cell has those of the same shape.
 *
 * @param createParent Creates the element with the text, in others or not.
 */
function textIn(
  cell: HTMLElement,
  kind: string,
  createParent: () => HTMLElement,
  badge?: BadgeText,
): Text {
  const shape = badge ? `${kind} ${badge.text}` : kind;
  const known = contents.get(cell);
  if (known?.shape === shape) return known.text;
  const parent = createParent();
  const isReused = parent === cell && known?.text.parentElement === cell;
  const text = isReused ? known.text : new Text();
  if (parent === cell) {
    if (!isReused) cell.replaceChildren(text);
  } else {
    parent.append(text);
    const outer = parent.parentElement ?? parent;
    cell.replaceChildren(badge ? withBadge(outer, badge) : outer);
  }
  if (known) {
    cell.removeAttribute("title");
    cell.classList.remove("cut", "muted");
  }
  if (kind === "text") cell.classList.add("cut");
  if (kind === "dash") cell.classList.add("muted");
  contents.set(cell, { shape, text });
  return text;
}

function withBadge(element: HTMLElement, { text, tone }: BadgeText): HTMLElement {
  const frame = create("span", "name-cell");
  const badge = create("span", `badge ${tone}`);
  badge.textContent = text;
  frame.append(element, badge);
  return frame;
}

function create(tag: string, className: string): HTMLElement {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}

function setText(node: Text, text: string): void {
  if (node.data !== text) node.data = text;
}

function setAttribute(element: HTMLElement, name: string, value: string | undefined): void {
  if (value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

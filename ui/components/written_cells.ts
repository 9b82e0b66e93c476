/**
 * Writes cells of long tables into the elements that exist. Scrolling then creates little garbage,
 * whose collection would stop the page.
 *
 * @module
 */

import { stateClass, stateWord, type Tone } from "./states.tsx";
import { plain } from "../base/text.ts";
import { exactTime, timeFromNow } from "./time.tsx";

interface BadgeText {
  text: string;
  tone: Tone;
}

/** Parts of a cell. */
interface Shape {
  /** Classes of the cell, besides those of its column. */
  classes: string;
  /** Cuts what does not fit at its start. */
  dir?: "rtl";
  /** Creates the element that contains the text; without it the cell does. */
  create?: () => HTMLElement;
}

interface Content {
  shape: Shape;
  text: Text;
  /** Classes of the column. */
  classes: string;
}

const contents = new WeakMap<Element, Content>();

const DASH: Shape = { classes: "muted" };
const NUMBER: Shape = { classes: "" };
const TEXT: Shape = { classes: "cut" };
const LINK: Shape = { classes: "", create: () => create("a", "name cut") };
const TIME: Shape = { classes: "", create: () => create("time", "cut") };
// The direction of the cell chooses the side that is cut; `bdi` keeps that of the text.
const PATH: Shape = { classes: "cut", dir: "rtl", create: () => document.createElement("bdi") };

/** One line of text from a container; `null` is a dash. */
export function writeText(cell: HTMLElement, text: string | null): void {
  if (text === null) setText(textIn(cell, DASH), "–");
  else setText(textIn(cell, TEXT), plain(text));
}

/** A number with its unit. */
export function writeNumber(cell: HTMLElement, text: string): void {
  setText(textIn(cell, NUMBER), text);
}

/** Text from a container that leads to `href`. */
export function writeLink(cell: HTMLElement, text: string, href: string, badge?: BadgeText): void {
  const shape = badge && shapeOf(`link ${badge.text}`, () => ({
    classes: "",
    create: () => beforeBadge(LINK.create!(), badge),
  }));
  const content = textIn(cell, shape ?? LINK);
  setText(content, plain(text));
  setAttribute(content.parentElement!, "href", href);
}

/** A word with a dot; `null` is a dash. */
export function writeState(cell: HTMLElement, state: string | null, tone?: Tone): void {
  if (state === null) return writeText(cell, null);
  const classes = stateClass(state, tone);
  const shape = shapeOf(classes, () => ({ classes }));
  setText(textIn(cell, shape), stateWord(state));
}

/** A path or an image: what does not fit is cut at its start, because its end matters most. */
export function writePath(cell: HTMLElement, text: string, badge?: BadgeText): void {
  const shape = badge && shapeOf(`path ${badge.text}`, () => ({
    classes: "",
    create: () => {
      const frame = create("span", "cut");
      frame.dir = "rtl";
      beforeBadge(frame, badge);
      return frame.appendChild(PATH.create!());
    },
  }));
  setText(textIn(cell, shape ?? PATH), plain(text));
}

/** A time relative to now, with the exact one on hover; follows the time. `at` is ISO 8601. */
export function writeTime(cell: HTMLElement, at: string | null): void {
  if (at === null) return writeText(cell, null);
  const content = textIn(cell, TIME);
  const time = content.parentElement!;
  setText(content, timeFromNow(at));
  setAttribute(time, "datetime", at);
  setAttribute(time, "title", exactTime(at));
}

/** Gives a row copies of cells, with what has been written into them. */
export function copyCells(from: DocumentFragment, to: HTMLTableRowElement): void {
  const copy = from.cloneNode(true) as DocumentFragment;
  for (const [at, cell] of [...copy.children].entries()) {
    const content = contents.get(from.children[at]!);
    if (content) contents.set(cell, { ...content, text: firstText(cell) });
  }
  to.replaceChildren(copy);
}

/** The text comes first in each shape. */
function firstText(cell: Element): Text {
  let node: Node = cell;
  while (!(node instanceof Text)) node = node.firstChild!;
  return node;
}

/** The text of a cell, which gets a shape unless it has it. */
function textIn(cell: HTMLElement, shape: Shape): Text {
  const known = contents.get(cell);
  if (known?.shape === shape) return known.text;
  const classes = known?.classes ?? cell.className;
  cell.className = shape.classes ? `${classes} ${shape.classes}` : classes;
  const dir = shape.dir ?? "";
  if (cell.dir !== dir) cell.dir = dir;
  let text = known?.text;
  if (!text || shape.create !== known!.shape.create) {
    text = new Text();
    const parent = shape.create?.();
    parent?.append(text);
    cell.replaceChildren(parent ? rootOf(parent) : text);
  }
  contents.set(cell, { shape, text, classes });
  return text;
}

const shapes = new Map<string, Shape>();

/** Shapes are compared by identity, so each is made once. */
function shapeOf(key: string, make: () => Shape): Shape {
  let shape = shapes.get(key);
  if (!shape) shapes.set(key, shape = make());
  return shape;
}

/** In a frame, before a badge. */
function beforeBadge(element: HTMLElement, { text, tone }: BadgeText): HTMLElement {
  const frame = create("span", "name-cell");
  const badge = create("span", `badge ${tone}`);
  badge.textContent = text;
  frame.append(element, badge);
  return element;
}

function rootOf(element: HTMLElement): HTMLElement {
  return element.parentElement ? rootOf(element.parentElement) : element;
}

function create(tag: string, className: string): HTMLElement {
  const element = document.createElement(tag);
  element.className = className;
  return element;
}

function setText(node: Text, text: string): void {
  if (node.data !== text) node.data = text;
}

function setAttribute(element: HTMLElement, name: string, value: string): void {
  if (element.getAttribute(name) !== value) element.setAttribute(name, value);
}

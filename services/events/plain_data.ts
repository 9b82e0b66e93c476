/**
 * The data of an event for templates and automations, as plain and as short as what people read.
 *
 * @module
 */

import { paragraphs, truncate } from "./text.ts";

/** Limit of all texts together, in UTF-16 code units: each channel stores them. */
const TEXTS_MAX = 16_384;

/** A text is cut to this length before it is processed. */
const RAW_MAX = 20_000;

/** Limits of the entries of a list or object, and of objects in each other. */
const ENTRIES_MAX = 100;
const DEPTH_MAX = 5;

/** Copies the data of an event, with texts without control characters and within limits. */
export function plainData(data: object): object {
  let left = TEXTS_MAX;
  const textOf = (text: string) => {
    const plain = left < 10 ? "" : truncate(paragraphs(text.slice(0, RAW_MAX)), left);
    left -= plain.length;
    return plain;
  };
  const copy = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") return textOf(value);
    if (typeof value !== "object" || value === null) return value;
    if (depth === DEPTH_MAX) return null;
    return Array.isArray(value)
      ? value.slice(0, ENTRIES_MAX).map((each) => copy(each, depth + 1))
      : Object.fromEntries(
        Object.entries(value).slice(0, ENTRIES_MAX).map(([name, each]) => [
          textOf(name),
          copy(each, depth + 1),
        ]),
      );
  };
  return copy(data, 0) as object;
}

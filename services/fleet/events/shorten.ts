/** Events that fit into a message of the link. @module */

import type { AppEvent } from "../../events/events.ts";

/** Longest event as JSON, in bytes. */
export const EVENT_BYTES_MAX = 24 * 1024;

/** Limits of an event that is longer: characters of a text, elements of a list. */
const TEXT_MAX = 500;
const LIST_MAX = 50;

const encoder = new TextEncoder();

export const bytesOf = (value: unknown): number => encoder.encode(JSON.stringify(value)).length;

/** The event itself; a copy whose long texts and lists are cut if it is too long. */
export function shorten(event: AppEvent): AppEvent {
  if (bytesOf(event) <= EVENT_BYTES_MAX) return event;
  for (let part = 1; part >= 1 / TEXT_MAX; part /= 2) {
    const short = { ...event, data: cut(event.data, part) } as AppEvent;
    if (bytesOf(short) <= EVENT_BYTES_MAX) return short;
  }
  return { ...event, data: {} } as AppEvent;
}

/** @param part Of the limits, from 0 to 1. */
function cut(value: unknown, part: number): unknown {
  if (typeof value === "string") return value.slice(0, TEXT_MAX * part).toWellFormed();
  if (Array.isArray(value)) return value.slice(0, LIST_MAX * part).map((each) => cut(each, part));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cut(each, part)]));
}

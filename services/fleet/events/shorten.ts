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
  const data = cut(event.data) as AppEvent["data"];
  const short = { ...event, data } as AppEvent;
  return bytesOf(short) <= EVENT_BYTES_MAX ? short : { ...event, data: {} } as AppEvent;
}

function cut(value: unknown): unknown {
  if (typeof value === "string") return value.slice(0, TEXT_MAX).toWellFormed();
  if (Array.isArray(value)) return value.slice(0, LIST_MAX).map(cut);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, cut(each)]));
}

/** Texts of events for people: in notifications, in chat messages and on the dashboard. @module */

import { type AppEvent, containersOf, type EventEnvelope, keyOf } from "./events.ts";
import type { Field, Kind, Remedy, Tone } from "./kinds/kind.ts";
import { eventKind } from "./kinds/mod.ts";
import { inline, joined, paragraphs } from "./text.ts";

/** An event of this service, or a custom event with any fields. */
export interface DescribedEvent extends EventEnvelope {
  event: string;
  data: object;
}

/** Plain text without control characters. */
export interface EventDescription {
  tone: Tone;
  /** One line, e.g. `Container down: web`. */
  headline: string;
  /** Facts such as `Exit code: 1`, and texts of several lines. */
  lines: string[];
}

/** An event as the clients of the event stream see it. */
export type EventView = AppEvent & {
  title: string;
  tone: Tone;
  lines: string[];
  /** If people should do something about it. */
  remedy?: Remedy;
  /** Missing for news that stand alone. Events with the same key are about the same problem. */
  problem?: {
    key: string;
    phase: "begin" | "end";
    /** Keys of other problems that end with it, e.g. because the container was removed. */
    alsoEnds?: string[];
  };
};

/** A value is truncated to this length before it is processed. */
const RAW_MAX = 20_000;

/** Fields listed of an event of an unknown kind. */
const FIELDS_MAX = 20;

/** Describes an event. An unknown kind is described by its fields. */
export function describeEvent(
  { event, data }: Pick<DescribedEvent, "event" | "data">,
): EventDescription {
  const field = fieldOf(data, inline);
  const { tone, headline, lines } =
    describeAs(eventKind(event), field, fieldOf(data, paragraphs)) ??
      listFields(event, Object.keys(data), field);
  return { tone, headline, lines: lines.filter(Boolean) };
}

/** Adds its text to an event. */
export function toView(event: AppEvent): EventView {
  const { headline: title, tone, lines } = describeEvent(event);
  const { remedy: remedyOf, phase } = eventKind(event.event);
  const remedy = remedyOf?.(fieldOf(event.data, inline));
  const problem = phase === "report" ? undefined : problemOf(event, phase);
  return { ...event, title, tone, lines, ...(remedy && { remedy }), ...(problem && { problem }) };
}

/** Of two problems of an object, such as a container that is down and one in a crash loop, each has its own key. */
function problemOf(event: AppEvent, phase: "begin" | "end"): EventView["problem"] {
  const { alsoEnds, isShared, problem, subject, targets } = eventKind(event.event);
  if (!subject) return undefined;
  const { key, kind } = subject(event.data, targets?.(event.data) ?? containersOf(event));
  const ofHost = (own: string) => isShared ? own : keyOf(event, own);
  const others = alsoEnds?.(event.data).map((other) => ofHost(`${other} ${key}`)) ?? [];
  return {
    key: ofHost(problem?.(event.data) ?? `${kind} ${key}`),
    phase,
    ...(others.length > 0 && { alsoEnds: others }),
  };
}

/** Reads fields of the data. @param clean Removes what could imitate other text. */
function fieldOf(data: object, clean: (text: string) => string): Field {
  const values = data as Record<string, unknown>;
  return (name) => clean(Object.hasOwn(values, name) ? plain(values[name]) : "");
}

/** @returns `undefined` if the name for the headline is missing. */
function describeAs(
  { lines, name, title, tone, toneOf }: Kind,
  field: Field,
  text: Field,
): EventDescription | undefined {
  const named = name?.(field);
  if (named === "") return undefined;
  return {
    tone: toneOf?.(field) ?? tone,
    headline: named === undefined ? title : `${title}: ${named}`,
    lines: lines?.(field, text) ?? [],
  };
}

/** The content of an event of an unknown kind. */
function listFields(
  event: string,
  names: readonly string[],
  field: Field,
): EventDescription {
  const title = ["title", "name"].find((name) => names.includes(name) && field(name) !== "");
  const others = names.filter((name) => name !== title);
  return {
    tone: "news",
    headline: inline(event) + (title === undefined ? "" : `: ${field(title)}`),
    lines: [
      ...others.slice(0, FIELDS_MAX).map((name) => joined(`${inline(name)}: `, field(name))),
      others.length > FIELDS_MAX ? `and ${others.length - FIELDS_MAX} more fields` : "",
    ],
  };
}

function plain(value: unknown): string {
  if (value === null || value === undefined) return "";
  const isList = Array.isArray(value) && value.every((each) => typeof each === "string");
  const text = isList
    ? value.join(", ")
    : typeof value === "object"
    ? JSON.stringify(value)
    : String(value);
  return text.slice(0, RAW_MAX);
}

/** The lines of a log that are kept, and those of them that the filter lets through. @module */

import { withoutColors } from "./ansi.ts";

export const LEVELS = ["trace", "debug", "info", "warn", "error", "fatal"] as const;

/** A line as the service sends it. */
export interface SentLine {
  container: string;
  containerId: string;
  stream: "stdout" | "stderr";
  /** RFC 3339 with up to nine decimal places. */
  timestamp: string;
  message: string;
  level: (typeof LEVELS)[number] | null;
  truncated?: true;
}

/** A line, or a note about what happened to the log. */
export interface Entry {
  /** Ascending in the order of the lines. It grows when lines are inserted before it. */
  id: number;
  container: string;
  note?: string;
  timestamp: string;
  /** Position among the lines of other containers; empty in the log of one. */
  time: string;
  level: string | null;
  /** As the container wrote it, with sequences for colors. */
  raw: string;
  /** Without them; this is searched. */
  text: string;
  isTruncated: boolean;
  isExpanded: boolean;
  /** Its height where it was last drawn, in pixels, and the layout of that time. */
  px?: number;
  layout?: string;
}

export interface LogFilter {
  /** Not global. */
  search: RegExp | undefined;
  /** The lowest level; lines without one do not pass. */
  level: string;
}

/** Limits of what is kept: lines, and characters of all lines together. */
const LINES_MAX = 100_000;
const CHARS_MAX = 48 * 1024 * 1024;

/** Lines over the limit that are removed together, because the others move each time. */
const SURPLUS = 1_000;

export interface LogBuffer {
  /** Oldest first. */
  readonly shown: readonly Entry[];
  /** Number of lines that are kept. */
  readonly size: number;
  /** Number of shown lines. */
  readonly count: number;
  add(lines: readonly SentLine[]): void;
  /** Adds a note, which every filter lets through. */
  addNote(container: string, note: string): void;
  setFilter(filter: LogFilter): void;
  clear(): void;
}

/** @param options.isMerged Whether the lines of several containers are ordered by their times. */
export function createLogBuffer({ isMerged = false } = {}): LogBuffer {
  let all: Entry[] = [];
  let shown: Entry[] = [];
  let filter: LogFilter = { search: undefined, level: "" };
  let chars = 0;
  let notes = 0;
  /** Number of lines and notes that were kept once. */
  let gone = 0;

  const insert = (entries: Entry[]) => {
    for (const { raw, note } of entries) {
      chars += raw.length;
      if (note !== undefined) notes++;
    }
    const from = merge(all, entries);
    merge(shown, entries.filter((entry) => passes(entry, filter)));
    for (let at = from; at < all.length; at++) all[at]!.id = gone + at + 1;
  };
  const trim = () => {
    if (all.length < LINES_MAX + SURPLUS && chars <= CHARS_MAX) return;
    let removed = 0;
    while (all.length - removed > LINES_MAX || chars > CHARS_MAX) {
      const { raw, note } = all[removed++]!;
      chars -= raw.length;
      if (note !== undefined) notes--;
    }
    gone += removed;
    all.splice(0, removed);
    const first = all[0]?.id ?? Infinity;
    const kept = shown.findIndex(({ id }) => id >= first);
    shown.splice(0, kept < 0 ? shown.length : kept);
  };
  return {
    get shown() {
      return shown;
    },
    get size() {
      return all.length - notes;
    },
    get count() {
      return shown.length - notes;
    },
    add(lines) {
      insert(lines.map(({ container, timestamp, level, message, truncated }) => ({
        id: 0,
        container,
        timestamp,
        time: isMerged ? timestamp.replace(ZONE, "") : "",
        level,
        raw: message,
        text: withoutColors(message),
        isTruncated: truncated === true,
        isExpanded: false,
      })));
      trim();
    },
    addNote(container, note) {
      const last = all.findLast((entry) => entry.container === container) ?? all.at(-1);
      insert([{
        id: 0,
        container,
        note,
        timestamp: "",
        time: last?.time ?? "",
        level: null,
        raw: "",
        text: "",
        isTruncated: false,
        isExpanded: false,
      }]);
    },
    setFilter(next) {
      filter = next;
      shown = all.filter((entry) => passes(entry, filter));
    },
    clear() {
      gone += all.length;
      all = [];
      shown = [];
      chars = notes = 0;
    },
  };
}

/** Without it, the times of one engine are in the order of their text. */
const ZONE = /(?:Z|[+-]\d\d:\d\d)$/;

/**
 * Inserts entries by time, each after those of the same time.
 *
 * @returns The index of the first one that is new or has moved.
 */
function merge(list: Entry[], entries: readonly Entry[]): number {
  const sorted = entries.toSorted((a, b) => a.time < b.time ? -1 : a.time > b.time ? 1 : 0);
  const first = sorted[0]?.time ?? "";
  let from = list.length;
  while (from > 0 && list[from - 1]!.time > first) from--;
  const later = list.splice(from);
  let at = 0;
  for (const entry of sorted) {
    while (at < later.length && later[at]!.time <= entry.time) list.push(later[at++]!);
    list.push(entry);
  }
  while (at < later.length) list.push(later[at++]!);
  return from;
}

function passes({ note, text, level }: Entry, filter: LogFilter): boolean {
  if (note !== undefined) return true;
  if (filter.level !== "" && rank(level) < rank(filter.level)) return false;
  return filter.search === undefined || filter.search.test(text);
}

const rank = (level: string | null) => LEVELS.indexOf(level as typeof LEVELS[number]);

/**
 * The expression that finds a search in lines; without regard to case.
 *
 * @throws {SyntaxError} For an invalid expression.
 */
export function searchPattern(search: string, isRegex: boolean): RegExp | undefined {
  if (search === "") return undefined;
  const source = isRegex ? search : search.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  return new RegExp(source, "i");
}

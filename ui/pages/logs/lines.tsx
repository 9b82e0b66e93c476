/** The lines of a log. Only those near the visible part are in the document. @module */

import { useCallback, useLayoutEffect, useRef } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { Badge } from "../../components/states.tsx";
import { addStyles } from "../../components/styles.ts";
import { plain, plainLines } from "../../base/text.ts";
import { piecesOf } from "./ansi.ts";
import type { Entry } from "./buffer.ts";
import styles from "./logs.css" with { type: "text" };
import {
  type Anchor,
  anchorAt,
  drawnAt,
  lastOf,
  LINE_PX,
  rowsOf,
  topOf,
  windowOf,
} from "./window.ts";

addStyles(styles);

/** Width of a character, for lines that have not been drawn yet. */
const CHAR_PX = 7.8;

export interface LinesProps {
  entries: readonly Entry[];
  /** Changes with the entries, which are the same array. */
  version: number;
  /** Global, or nothing to mark. */
  marks: RegExp | undefined;
  isWrapped: boolean;
  hasTimes: boolean;
  hasNames: boolean;
  /** Whether the newest line stays visible; scrolling changes it. */
  follow: Signal<boolean>;
  busy: boolean;
  /** Shown in place of lines. */
  children?: ComponentChildren;
}

export function Lines(
  { entries, marks, isWrapped, hasTimes, hasNames, busy, follow, children }: LinesProps,
) {
  const box = useRef<HTMLDivElement>(null);
  const view = useSignal({ top: 0, height: 800, width: 1000 });
  const redraw = useSignal(0);
  /** The first visible line, and how much of it is above the visible part. */
  const anchor = useRef<Anchor>({ entry: undefined, offset: 0 });
  void redraw.value;

  const { width, height } = view.value;
  const layout = `${isWrapped} ${hasTimes} ${hasNames} ${width}`;
  const charsMax = Math.max(20, (width - (hasTimes ? 130 : 20)) / CHAR_PX);
  const heightOf = (entry: Entry): number => {
    if (entry.px !== undefined && entry.layout === layout) return entry.px;
    return isWrapped ? LINE_PX * Math.ceil(entry.text.length / charsMax || 1) : LINE_PX;
  };
  const { first, end, above, below } = follow.value
    ? lastOf(entries, heightOf, height)
    : windowOf(entries, heightOf, view.value.top, height);
  const drawn = entries.slice(first, end);
  const keys = useKeys(drawn, box.current?.querySelector(":focus") === null);

  const onToggle = useCallback((entry: Entry) => {
    entry.isExpanded = !entry.isExpanded;
    delete entry.px;
    redraw.value++;
  }, []);

  useLayoutEffect(() => {
    const element = box.current!;
    let hasChanged = false;
    for (const { row, entry } of rowsOf(element, drawn)) {
      if (entry.px !== undefined && entry.layout === layout) continue;
      const px = row.offsetHeight;
      hasChanged ||= heightOf(entry) !== px;
      entry.px = px;
      entry.layout = layout;
    }
    if (hasChanged) redraw.value++;
    element.scrollTop = follow.peek()
      ? element.scrollHeight
      : topOf(entries, heightOf, anchor.current);
  });

  useLayoutEffect(() => {
    const element = box.current!;
    const observer = new ResizeObserver(() => {
      const { clientHeight, clientWidth } = element;
      view.value = { ...view.peek(), height: clientHeight, width: clientWidth };
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  const onScroll = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    const { scrollTop: top, clientHeight, scrollHeight } = currentTarget;
    const before = view.peek().top;
    if (top === before) return;
    const isAtEnd = top + clientHeight >= scrollHeight - 4;
    if (isAtEnd) follow.value = true;
    else if (top < before) follow.value = false;
    anchor.current = drawnAt(currentTarget, drawn) ?? anchorAt(entries, heightOf, top);
    // The drawn lines do not depend on it while the newest one is followed.
    if (follow.peek()) view.peek().top = top;
    else view.value = { ...view.peek(), top };
  };
  return (
    <div
      ref={box}
      class={isWrapped ? "log wrapped" : "log"}
      role="log"
      aria-label="Logs"
      aria-live="off"
      aria-busy={busy ? "true" : undefined}
      tabIndex={0}
      onScroll={onScroll}
    >
      {children}
      <Space px={above} />
      {drawn.map((entry) =>
        entry.note === undefined
          ? (
            <Line
              key={keys.get(entry)}
              entry={entry}
              isExpanded={entry.isExpanded}
              marks={marks}
              hasTimes={hasTimes}
              hasNames={hasNames}
              onToggle={onToggle}
            />
          )
          : (
            <p key={keys.get(entry)} class="log-note">
              {plain(hasNames ? `${entry.container}: ${entry.note}` : entry.note)}
            </p>
          )
      )}
      <Space px={below} />
    </div>
  );
}

/**
 * Keys of drawn lines. A new line gets the element of one that has left, because another text costs the
 * browser less than another element.
 *
 * @param canReuse Whether elements may show another line; the focus stays on its line.
 */
function useKeys(drawn: readonly Entry[], canReuse: boolean): ReadonlyMap<Entry, number> {
  const keys = useRef<ReadonlyMap<Entry, number>>(new Map());
  const created = useRef(0);
  const staying = new Set(drawn);
  const left = [...keys.current].filter(([entry]) => canReuse && !staying.has(entry));
  const keyOf = (entry: Entry) => keys.current.get(entry) ?? left.shift()?.[1] ?? created.current++;
  return keys.current = new Map(drawn.map((entry) => [entry, keyOf(entry)]));
}

/** It gets only what it draws: a line whose properties are the same is not drawn again. */
function Line({ entry, isExpanded, marks, hasTimes, hasNames, onToggle }: {
  entry: Entry;
  isExpanded: boolean;
  onToggle: (entry: Entry) => void;
} & Pick<LinesProps, "marks" | "hasTimes" | "hasNames">) {
  const { container, level, timestamp, isTruncated } = entry;
  const json = jsonOf(entry);
  const text = isExpanded && json !== undefined
    ? marked(JSON.stringify(json, null, 2), marks, plainLines)
    : messageOf(entry, marks);
  const attributes = {
    "data-testid": "log-line",
    "data-level": level ?? undefined,
    "data-container": plain(container),
  };
  if (!hasTimes && !hasNames && json === undefined && !isTruncated) {
    return <div class="log-line log-text" {...attributes}>{text}</div>;
  }
  return (
    <div class="log-line" {...attributes}>
      {hasTimes && <time dateTime={timestamp}>{shownTime(timestamp)}</time>}
      {hasNames && (
        <span class={`log-name ansi-${colorOf(container)}`} title={plain(container)}>
          {plain(container)}
        </span>
      )}
      {json !== undefined && (
        <button
          type="button"
          class="log-expand"
          aria-label="Expand"
          aria-expanded={isExpanded}
          onClick={() => onToggle(entry)}
        >
          {isExpanded ? "−" : "+"}
        </button>
      )}
      <span class="log-text">{text}</span>
      {isTruncated && <Badge tone="warn">truncated</Badge>}
    </div>
  );
}

/** The pieces of a line by color, with the matches of the search in them. */
function messageOf({ raw, text }: Entry, marks: RegExp | undefined): ComponentChildren {
  if (raw === text) return marked(text, marks, plainTabs);
  const found = marks ? rangesOf(text, marks) : [];
  let at = 0;
  return piecesOf(raw).map(({ text: piece, classes }, index) => {
    const from = at;
    at += piece.length;
    return (
      <span key={index} class={classes || undefined}>
        {cut(piece, found.map(([start, end]) => [start - from, end - from]), plainTabs)}
      </span>
    );
  });
}

function marked(text: string, marks: RegExp | undefined, show: (text: string) => string) {
  return marks ? cut(text, rangesOf(text, marks), show) : show(text);
}

/** As in `plain`, but tabs stay. */
const plainTabs = (text: string) => plainLines(text).replaceAll("\n", "\\u000a");

type Range = [start: number, end: number];

const rangesOf = (text: string, marks: RegExp): Range[] =>
  [...text.matchAll(marks)]
    .filter(([match]) => match !== "")
    .map(({ 0: match, index }) => [index, index + match.length]);

/** The text with the ranges that are in it marked. */
function cut(text: string, ranges: readonly Range[], show: (text: string) => string) {
  const parts: ComponentChildren[] = [];
  let at = 0;
  for (const [start, end] of ranges) {
    const [from, to] = [Math.max(start, 0), Math.min(end, text.length)];
    if (from >= to) continue;
    parts.push(show(text.slice(at, from)), <mark key={from}>{show(text.slice(from, to))}</mark>);
    at = to;
  }
  return [...parts, show(text.slice(at))];
}

/** The object of a line that is JSON; read once, when the line is first drawn. */
const objects = new WeakMap<Entry, { json: unknown }>();

function jsonOf(entry: Entry): unknown {
  if (!/^\s*\{.*\}\s*$/.test(entry.text)) return undefined;
  const known = objects.get(entry);
  if (known) return known.json;
  let json: unknown;
  try {
    json = JSON.parse(entry.text);
  } catch { /* It only looks like JSON. */ }
  objects.set(entry, { json });
  return json;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});

const DAY = new Intl.DateTimeFormat("en-GB", { day: "2-digit", month: "short" });

/** E.g. `12:00:00.123` of today, `31 Jan 12:00:00.123` of another day. */
function shownTime(timestamp: string): string {
  const date = new Date(timestamp);
  const clock = CLOCK.format(date);
  return date.toDateString() === new Date().toDateString() ? clock : `${DAY.format(date)} ${clock}`;
}

/** Colors of names, in the order in which they were first shown. */
const colors = new Map<string, number>();

/** One of the six colors that are not gray. */
function colorOf(name: string): number {
  if (!colors.has(name)) colors.set(name, 1 + (colors.size + 3) % 6);
  return colors.get(name)!;
}

function Space({ px }: { px: number }) {
  const set = (element: HTMLElement | null) => {
    if (element) element.style.height = `${px}px`;
  };
  return <div ref={set} class="log-space" aria-hidden="true" />;
}

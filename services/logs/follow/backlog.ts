/**
 * Unread lines of one client, at most 1 MiB. Beyond that, new lines are dropped until the client
 * has read most of it, and it gets their number. (Dropping the oldest lines instead would let every
 * line of a fast container live long enough to fill the heap.)
 *
 * @module
 */

import { yieldToEventLoop } from "../../waiting.ts";
import type { Limiter } from "../../limiter.ts";
import { encode, type StreamChunk } from "../../stream/chunks.ts";
import { type Batch, encodeLines, type LogOrigin } from "./batch.ts";
import { cursorKey, encodeCursor } from "./cursor.ts";
import type { LogStreamRequest } from "../open_streams.ts";
import type { LogLine } from "./line_reader.ts";
import type { Position } from "./position.ts";

export interface Backlog {
  /** Adds lines, or drops them above the limit. */
  add(batch: Batch): void;
  /** Whether lines would be added. */
  hasRoomFor(batch: Batch): boolean;
  /** Adds an event about a container. @param end Its position from then on. */
  addEvent(origin: LogOrigin, type: string, data: Record<string, unknown>, end?: Position): void;
  /** Counts lines that the caller holds for this client. */
  reserve(batch: Batch): void;
  unreserve(batches: readonly Batch[]): void;
  /** Whether the limit is exceeded. */
  readonly isOverfull: boolean;
  /** Whether past lines should wait. */
  readonly isBusy: boolean;
  /** Resolves when there is room for past lines. */
  room(): Promise<void>;
  /** Called above the limit, before lines are dropped; returns whether it has unreserved some. */
  readonly relievers: Set<() => boolean>;
  /** Sets the position of a container, unless it has one. `null` is the beginning. */
  start(origin: LogOrigin, position: Position | null): void;
  /** Forgets the position of a container that no longer exists. */
  forget(origin: LogOrigin): void;
  position(containerId: string): Position | null | undefined;
  /** The next frame; `undefined` if there is none. */
  next(): StreamChunk | undefined | Promise<StreamChunk | undefined>;
  /** The id line of the current positions, if they have changed since the last frame. */
  changedId(): string;
  /** Drops everything; nothing waits for room any more. */
  close(): void;
}

/** Leaves room for the frames that the runtime holds. */
const COST_MAX = 896 * 1024;

/** Cost at which past lines wait, and at which they continue. */
const BUSY_COST = 512 * 1024;
const ROOM_COST = 256 * 1024;

/** Approximate memory of a batch and of a line beyond their text, in bytes. */
const BATCH_COST = 256;
const LINE_COST = 256;

/** Longest matching of lines against a pattern before other work runs, in milliseconds. */
const SLICE_MS = 4;

/** Dropped lines. */
interface Gap {
  origin: LogOrigin;
  dropped: number;
  end: Position;
}

type Item =
  // Without a filter only the encoded lines, which need less memory than the lines.
  | { origin: LogOrigin; frame: StreamChunk; end: Position; cost: number }
  | { origin: LogOrigin; lines: readonly LogLine[]; end: Position; cost: number }
  | Gap
  | {
    origin: LogOrigin;
    event: string;
    data: Record<string, unknown>;
    end: Position | undefined;
  };

interface BacklogOptions {
  now: () => Date;
  /** Selects the lines that the client gets. */
  filter: LogStreamRequest["filter"];
  /** Slow filters of all clients take turns. */
  slices: Limiter;
  /** Positions from the client's cursor. */
  positions: Map<string, Position | null>;
  /** Called when there is something to send. */
  onReady: () => void;
}

export function createBacklog(
  { now, filter, slices, positions, onReady }: BacklogOptions,
): Backlog {
  let items: Item[] = [];
  let cost = 0;
  let waiting: (() => void)[] = [];
  let isClosed = false;
  let hasNewPosition = false;
  /** Whether lines are dropped until there is room. */
  let isDropping = false;
  /** The last item of a container, if that is a gap, by the container's id. */
  const gaps = new Map<string, Gap>();
  const relievers = new Set<() => boolean>();

  const costOf = ({ lines, frame }: Batch) =>
    filter
      ? lines.reduce((sum, { message }) => sum + 2 * message.length + LINE_COST, BATCH_COST)
      : frame().length + BATCH_COST;
  const isSelected = ({ position: { stream }, message, level }: LogLine) =>
    filter!.selects({ stream, message, level });
  const setPosition = ({ id }: LogOrigin, position: Position | null) => {
    positions.set(cursorKey(id), position);
    hasNewPosition = true;
  };
  const idLine = () => {
    hasNewPosition = false;
    const at = Math.floor(now().getTime() / 1000);
    return `id: ${encodeCursor({ at, positions })}\n`;
  };
  const withId = (content: StreamChunk): StreamChunk => {
    const id = encoder.encode(idLine());
    const chunk = new Uint8Array(id.length + content.length);
    chunk.set(id);
    chunk.set(content, id.length);
    return chunk;
  };
  const eventFrame = (origin: LogOrigin, type: string, data: Record<string, unknown>) =>
    withId(encode(type, { container: origin.name, containerId: origin.id, ...data }));

  const releaseRoom = () => {
    if (cost > ROOM_COST && !isClosed) return;
    const ready = waiting;
    waiting = [];
    for (const resolve of ready) resolve();
  };
  const drop = ({ origin, lines }: Batch) => {
    const end = lines.at(-1)!.position;
    const gap = gaps.get(origin.id);
    if (gap) {
      gap.dropped += lines.length;
      gap.end = end;
    } else {
      const opened = { origin, dropped: lines.length, end };
      gaps.set(origin.id, opened);
      items.push(opened);
    }
  };
  /** Whether there is room for more, after lines that can be read again were given up. */
  const makeRoomFor = (more: number) => {
    while (cost + more > COST_MAX && [...relievers].some((relieve) => relieve()));
    isDropping = isDropping ? cost > ROOM_COST : cost + more > COST_MAX;
    return !isDropping;
  };

  const backlog: Backlog = {
    relievers,
    get isOverfull() {
      return cost > COST_MAX;
    },
    get isBusy() {
      return cost > BUSY_COST;
    },
    add(batch) {
      if (isClosed) return;
      const size = costOf(batch);
      if (makeRoomFor(size)) {
        const { origin, lines } = batch;
        const common = { origin, end: lines.at(-1)!.position, cost: size };
        items.push(filter ? { ...common, lines } : { ...common, frame: batch.frame() });
        gaps.delete(origin.id);
        cost += size;
      } else drop(batch);
      onReady();
    },
    hasRoomFor: (batch) => !isDropping && cost + costOf(batch) <= COST_MAX,
    addEvent(origin, event, data, end) {
      if (isClosed) return;
      items.push({ origin, event, data, end });
      onReady();
    },
    reserve(batch) {
      cost += costOf(batch);
    },
    unreserve(batches) {
      for (const batch of batches) cost -= costOf(batch);
      releaseRoom();
    },
    room() {
      return new Promise((resolve) => {
        waiting.push(resolve);
        releaseRoom();
      });
    },
    start(origin, position) {
      if (!positions.has(cursorKey(origin.id))) setPosition(origin, position);
    },
    forget(origin) {
      positions.delete(cursorKey(origin.id));
    },
    position: (containerId) => positions.get(cursorKey(containerId)),
    next() {
      for (let item = items.shift(); item; item = items.shift()) {
        const { origin } = item;
        if ("dropped" in item) {
          if (gaps.get(origin.id) === item) gaps.delete(origin.id);
          setPosition(origin, item.end);
          return eventFrame(origin, "gap", { dropped: item.dropped });
        }
        if ("event" in item) {
          if (item.end) setPosition(origin, item.end);
          return eventFrame(origin, item.event, item.data);
        }
        cost -= item.cost;
        releaseRoom();
        if ("lines" in item && filter?.isSlow) return nextSelected(origin, item.lines);
        setPosition(origin, item.end);
        if ("frame" in item) return withId(item.frame);
        const selected = item.lines.filter(isSelected);
        if (selected.length > 0) return withId(encodeLines(origin, selected));
      }
      return undefined;
    },
    changedId: () => hasNewPosition ? idLine() : "",
    close() {
      isClosed = true;
      items = [];
      cost = 0;
      gaps.clear();
      relievers.clear();
      releaseRoom();
    },
  };
  return backlog;

  async function nextSelected(
    origin: LogOrigin,
    lines: readonly LogLine[],
  ): Promise<StreamChunk | undefined> {
    const selected: LogLine[] = [];
    for (let index = 0; index < lines.length && !isClosed;) {
      await slices(async () => {
        await yieldToEventLoop();
        const startedAt = performance.now();
        do {
          if (isSelected(lines[index]!)) selected.push(lines[index]!);
          index++;
        } while (index < lines.length && performance.now() - startedAt < SLICE_MS);
      });
    }
    setPosition(origin, lines.at(-1)!.position);
    return selected.length > 0 ? withId(encodeLines(origin, selected)) : await backlog.next();
  }
}

const encoder = new TextEncoder();

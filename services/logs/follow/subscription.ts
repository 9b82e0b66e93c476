/**
 * One container in a client's stream: first its past lines, which are read for this client, then the
 * new ones of the follower that all clients share.
 *
 * @module
 */

import { EngineUnreachableError } from "../../../engine/errors.ts";
import { sleep } from "../../waiting.ts";
import type { Limiter } from "../../limiter.ts";
import type { Backlog } from "./backlog.ts";
import { type Batch, createBatcher } from "./batch.ts";
import type { EndReason, Follower, Subscriber } from "./follower.ts";
import { type LogLine, readLastLines, readLinesAfter, type ReadRange } from "./line_reader.ts";
import { isLater, isSamePosition, type Position } from "./position.ts";
import type { ReadSlot, ReadSlots } from "./read_slots.ts";

/** Position at which the stream of a container begins. */
export type Start =
  | { range: ReadRange }
  /** After a line. */
  | { after: Position };

/** The lines from the beginning of the log. */
export const FROM_BEGINNING: Start = { range: {} };

/**
 * Number of reads to the end of the log during which new lines may exceed the backlog. They become
 * past lines, which the next read contains; after that they are dropped.
 */
const OVERTAKEN_MAX = 64;

/** Limit of reads to the end of the log, after each of which there may be more past lines. */
const READS_MAX = 2 * OVERTAKEN_MAX;

/**
 * Number of times that the engine may be unreachable or too slow for a read, and the pause before
 * the next one in milliseconds. The follower ends first if the engine stays unreachable.
 */
const FAILURES_MAX = 60;
const FAILURE_PAUSE_MS = 1_000;

const endOf = ({ lines }: Batch): Position => lines.at(-1)!.position;

/** New lines that wait until the past ones have been read. */
interface Past {
  /** The last past line. */
  target: Position;
  /** New lines and restarts, in their order. */
  queued: (Batch | "restart")[];
  /** The last lines before restarts that are among past lines. */
  restarts: Position[];
  /** Number of reads to the end of the log. */
  reads: number;
  /** Queued lines that were dropped, and the last of them. */
  dropped: number;
  droppedEnd: Position | undefined;
}

/**
 * Subscribes a client to a follower that is ready.
 *
 * @param onEnd Called when nothing follows, after the subscription was closed.
 * @returns Closes the subscription.
 */
export function subscribe(
  { follower, backlog, turns, slots, isComplete, start, onEnd }: {
    follower: Follower;
    backlog: Backlog;
    /** Past logs of a client take turns, because each search for a position takes time. */
    turns: Limiter;
    slots: ReadSlots;
    /** New lines without room become past lines, as in {@linkcode LogStreamRequest}. */
    isComplete: boolean;
    start: Start;
    onEnd: (reason: EndReason) => void;
  },
): () => void {
  const { origin, source } = follower;
  const stop = new AbortController();
  let past: Past | undefined;
  /** End of the lines that the backlog got, unless past ones are being read. */
  let added: Position | undefined;

  const subscriber: Subscriber = {
    onBatch(batch) {
      if (!past) {
        if (!isComplete || backlog.hasRoomFor(batch)) return add(batch);
        return readUpTo(endOf(batch), added ? { after: added } : FROM_BEGINNING);
      }
      past.queued.push(batch);
      backlog.reserve(batch);
      if (backlog.isOverfull) dropQueued(past);
    },
    onGap: () => backlog.addEvent(origin, "gap", { dropped: null }),
    onRestart() {
      if (past) past.queued.push("restart");
      else addRestart();
    },
    onEnd(reason) {
      if (past) {
        // Not all past lines have been read, and they may be gone.
        subscriber.onGap();
        join(past);
      }
      close();
      if (reason === "removed") backlog.forget(origin);
      backlog.addEvent(origin, "end", { reason });
      onEnd(reason);
    },
  };
  const add = (batch: Batch) => {
    added = endOf(batch);
    backlog.add(batch);
  };
  const addRestart = () => backlog.addEvent(origin, "restarted", {});
  const batchesOf = ({ queued }: Past) => queued.filter((each) => each !== "restart");
  const relieve = () => past !== undefined && batchesOf(past).length > 0 && dropQueued(past);
  const close = () => {
    follower.unsubscribe(subscriber);
    backlog.relievers.delete(relieve);
    if (past) backlog.unreserve(batchesOf(past));
    past = undefined;
    stop.abort();
  };

  follower.subscribe(subscriber);
  // A log that has ended was reported by now.
  if (!stop.signal.aborted) begin(follower.last);
  return close;

  function begin(last: Position | undefined): void {
    if (!last) {
      if ("after" in start) subscriber.onGap();
      return backlog.start(origin, null);
    }
    const isAtEnd = "after" in start ? isSamePosition(start.after, last) : start.range.tail === 0;
    if (!isAtEnd) return readUpTo(last, start);
    added = last;
    backlog.start(origin, last);
  }

  /** Reads past lines for this client, while new ones are queued. */
  function readUpTo(target: Position, from: Start): void {
    past = { target, queued: [], restarts: [], reads: 0, dropped: 0, droppedEnd: undefined };
    backlog.relievers.add(relieve);
    const reading = past;
    turns(() => readPast(reading, from)).catch(() => {
      if (stop.signal.aborted) return;
      // The follower reports a container or an engine that is gone.
      subscriber.onGap();
      join(reading);
    });
  }

  /** Makes queued lines past ones, or drops them. */
  function dropQueued(past: Past): true {
    const batches = batchesOf(past);
    let end = past.droppedEnd ?? past.target;
    for (const each of past.queued) {
      if (each === "restart") past.restarts.push(end);
      else end = endOf(each);
    }
    if (past.reads < OVERTAKEN_MAX) past.target = end;
    else {
      past.dropped += batches.reduce((sum, { lines }) => sum + lines.length, 0);
      past.droppedEnd = end;
    }
    backlog.unreserve(batches);
    past.queued = [];
    return true;
  }

  async function readPast(past: Past, from: Start): Promise<void> {
    const range = "range" in from ? from.range : {};
    let at = "after" in from ? from.after : undefined;
    let failures = 0;
    while (past.reads <= READS_MAX && !stop.signal.aborted) {
      if (at && isSamePosition(at, past.target)) break;
      if (backlog.isBusy) await backlog.room();
      const { last, isEvicted, failure } = await readPortion(at ?? range, past.target);
      at = last ?? at;
      if (failure) {
        if (++failures > FAILURES_MAX) throw failure;
        await sleep(FAILURE_PAUSE_MS, stop.signal);
      } else if (!isEvicted) past.reads += last ? 1 : Infinity;
    }
    if (!stop.signal.aborted) join(past);
  }

  /** Reads lines up to `target`, the end of the log, or until another client needs the connection. */
  async function readPortion(from: Position | ReadRange, target: Position) {
    const slot = await slots.acquire(stop.signal);
    const batcher = createBatcher(origin, backlog.add);
    let last: Position | undefined;
    let failure: EngineUnreachableError | undefined;
    let hasGap = false;
    let startsLate = false;

    const read = (receive: (line: LogLine) => boolean | Promise<boolean>) => {
      const signal = AbortSignal.any([stop.signal, slot.evicted]);
      const onMissing = () => {
        if (!hasGap) subscriber.onGap();
        hasGap = true;
      };
      return "seconds" in from
        ? readLinesAfter(source, from, signal, receive, onMissing)
        : readLastLines(source, from, signal, receive);
    };
    const add = (line: LogLine): boolean | Promise<boolean> => {
      if (!last && !startsLate && isLater(line.position, target)) {
        startsLate = true;
        return false;
      }
      batcher.add(line);
      last = line.position;
      if (past?.restarts[0] && isSamePosition(last, past.restarts[0])) {
        past.restarts.shift();
        batcher.flush();
        addRestart();
      }
      if (isSamePosition(last, target)) return false;
      return backlog.isBusy ? waitForRoom(slot, batcher.flush) : true;
    };
    try {
      await read(add);
      if (startsLate) {
        // All lines are those of the follower, unless the clock was set back.
        let hasTarget = false;
        await read(({ position }) => !(hasTarget = isSamePosition(position, target)));
        if (hasTarget) await read(add);
      }
    } catch (error) {
      if (!slot.evicted.aborted) {
        if (!(error instanceof EngineUnreachableError)) throw error;
        failure = error;
      }
    } finally {
      batcher.flush();
      slot.release();
    }
    return { last, isEvicted: slot.evicted.aborted, failure };
  }

  async function waitForRoom(slot: ReadSlot, flush: () => void): Promise<boolean> {
    flush();
    await slot.idleDuring(backlog.room());
    return !stop.signal.aborted && !slot.evicted.aborted;
  }

  /** Continues with the new lines. */
  function join(joined: Past): void {
    past = undefined;
    backlog.relievers.delete(relieve);
    backlog.unreserve(batchesOf(joined));
    added = joined.droppedEnd ?? joined.target;
    backlog.start(origin, joined.target);
    if (joined.droppedEnd) {
      backlog.addEvent(origin, "gap", { dropped: joined.dropped }, joined.droppedEnd);
    }
    // Those before lines that were dropped.
    joined.restarts.forEach(addRestart);
    for (const each of joined.queued) {
      if (each === "restart") addRestart();
      else add(each);
    }
  }
}

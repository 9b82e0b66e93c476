/**
 * Follows the log of one container on one connection to the engine, for all of its readers, in three
 * phases for each run of the container:
 *
 * 1. Catch up: reads the lines after the last known one, and asks the engine to which run they belong, so
 *    that a restart is announced between the lines of both runs.
 * 2. Follow: receives new lines until the container stops. A connection that breaks, or that does not
 *    send what the log has, leads back to phase 1.
 * 3. Wait: reads the last lines, which a journal may have a little later, until the container is started.
 *
 * A reader may join in each phase: `subscription.ts` reads the lines up to the last known one for it.
 *
 * @module
 */

import { containerInspect } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { type Batch, createBatcher, type LogOrigin } from "./batch.ts";
import { createHeldLines } from "./held_lines.ts";
import {
  followLinesAfter,
  lastPosition,
  type LogLine,
  type LogSource,
  readLines,
  readLinesAfter,
} from "./line_reader.ts";
import { createRecentLines } from "./recent_lines.ts";
import type { Position } from "./position.ts";
import { createRun, isAfterRun, type Run, type RunEnd } from "./run.ts";
import { createSilenceCheck } from "./silence.ts";

/** Why a log has ended. */
export type EndReason = "removed" | "engine_lost" | "unreadable";

/** A reader of the log. The functions are called in the order of the log and must not throw. */
export interface Subscriber {
  onBatch(batch: Batch): void;
  /** An unknown number of lines is missing here. */
  onGap(): void;
  /** The container was started again. */
  onRestart(): void;
  /** Nothing follows. */
  onEnd(reason: EndReason): void;
}

export interface Follower {
  readonly origin: LogOrigin;
  /** Source of the log; known when `ready` has resolved. */
  readonly source: LogSource;
  /** Rejects if the log cannot be read. */
  readonly ready: Promise<void>;
  /** The last line that subscribers got, or would have got; `undefined` while there is none. */
  readonly last: Position | undefined;
  /** The subscriber gets every line after `last`, or at once the end of a log that has ended. */
  subscribe(subscriber: Subscriber): void;
  unsubscribe(subscriber: Subscriber): void;
  /** Looks for changes of the container; called every second. */
  tick(): void;
  /** The container was started or has ended: its run is checked before further lines are sent. */
  wake(): void;
  close(): void;
}

/** Longest wait for an unreachable engine, in milliseconds. */
const ENGINE_PATIENCE_MS = 30_000;

/** Longest search of a followed log for the last line, in milliseconds. */
const SEARCH_MS = 5_000;

/** Reads after the end of a run, a second apart: a journal may have the last lines a little later. */
const END_READS = 2;

type FollowDeps = Pick<Deps, "engine" | "inventory" | "now">;

/**
 * Starts to follow a container.
 *
 * @param onEnd Called when nothing follows.
 */
export function startFollower(
  { engine, inventory, now }: FollowDeps,
  origin: LogOrigin,
  onEnd: () => void,
): Follower {
  const stop = new AbortController();
  const subscribers = new Set<Subscriber>();
  const ready = Promise.withResolvers<void>();
  // A follower without a reader that waits for it must not fail the process.
  ready.promise.catch(() => {});
  const source: LogSource = { engine, containerId: origin.id, tty: false };
  let last: Position | undefined;
  let runs: Run | undefined;
  let lostAt: number | undefined;
  let ended: EndReason | undefined;
  let isWoken = false;
  /** Counts the runs that were noticed after the first one. */
  let nextRuns = 0;
  let isRunning = false;
  /** Lines after this time are those of the next run, which has not been announced. */
  let runEnd: RunEnd | undefined;
  /** Whether the log had few entries when it was last read. */
  let isSmall = false;
  let search: { since: number } | undefined;
  /** The connection that follows; aborted, it is replaced by another one. */
  let connection: AbortController | undefined;
  const isSilenceWrong = createSilenceCheck(() => lastPosition(source, stop.signal));
  let ticked = Promise.withResolvers<void>();
  let flushTimer: ReturnType<typeof setTimeout> | undefined;

  const batcher = createBatcher(origin, (batch) => {
    last = batch.lines.at(-1)!.position;
    for (const subscriber of subscribers) subscriber.onBatch(batch);
  });
  const flush = () => {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    batcher.flush();
  };
  const recent = createRecentLines();
  const receive = (line: LogLine) => {
    recent.add(line);
    if (runEnd && isAfterRun(line, runEnd)) announceRestart();
    batcher.add(line);
    // Lines that arrive together share a batch.
    flushTimer ??= setTimeout(flush);
  };

  run().catch((error) => {
    if (stop.signal.aborted) return;
    ready.reject(error);
    end("unreadable");
  });

  return {
    origin,
    source,
    ready: ready.promise,
    get last() {
      return last;
    },
    subscribe(subscriber) {
      // Lines that were read before belong to `last`.
      flush();
      if (ended) subscriber.onEnd(ended);
      else subscribers.add(subscriber);
    },
    unsubscribe(subscriber) {
      subscribers.delete(subscriber);
    },
    tick() {
      origin.name = inventory.get(origin.id)?.name ?? origin.name;
      if (search && now().getTime() - search.since > SEARCH_MS) connection?.abort();
      else if (connection && isSilenceWrong(last)) connection.abort();
      ticked.resolve();
      ticked = Promise.withResolvers();
    },
    wake() {
      isWoken = true;
      connection?.abort();
      ticked.resolve();
      ticked = Promise.withResolvers();
    },
    close() {
      stop.abort();
      ready.reject(stop.signal.reason);
      clearTimeout(flushTimer);
      ticked.resolve();
    },
  };

  async function run(): Promise<void> {
    const first = await containerInspect(engine, origin.id, { signal: stop.signal });
    source.tty = first.Config.Tty ?? false;
    runs = createRun(first.State);
    last = await lastPosition(source, stop.signal);
    await checkRun();
    // Lines up to the last one are past ones, also those of a run that has just begun.
    if (runEnd && last && isAfterRun({ position: last, timestamp: "." }, runEnd)) {
      runEnd = undefined;
    }
    ready.resolve();
    while (!stop.signal.aborted) {
      try {
        await followRun();
        lostAt = undefined;
        await waitForStart();
      } catch (error) {
        if (stop.signal.aborted) return;
        if (error instanceof EngineError && error.status === 404) return end("removed");
        lostAt ??= now().getTime();
        if (now().getTime() - lostAt >= ENGINE_PATIENCE_MS) return end("engine_lost");
        await ticked.promise;
      }
    }
  }

  /** Follows until the container stops, and reads what was written in between. */
  async function followRun(): Promise<void> {
    let isBroken = true;
    while (isBroken && !stop.signal.aborted) {
      isWoken = false;
      await catchUp();
      isBroken = isWoken || (isRunning && await followOnConnection());
    }
  }

  /** @returns Whether the log has to be followed on another connection. */
  async function followOnConnection(): Promise<boolean> {
    const broken = new AbortController();
    let isFirst = true;
    connection = broken;
    search = { since: now().getTime() };
    try {
      await followLinesAfter(
        source,
        last,
        AbortSignal.any([stop.signal, broken.signal]),
        (line) => {
          // The first one follows the last line, whatever it is.
          const novelty = isFirst ? "new" : recent.noveltyOf(line);
          isFirst = false;
          if (novelty === "new") receive(line);
          // Another connection shows whether the log has it twice.
          if (novelty === "unclear") broken.abort();
          return novelty !== "unclear";
        },
        { isSmall, onFound: () => search = undefined },
      );
    } catch (error) {
      // The last line may be gone; `catchUp()` will notice.
      if (!broken.signal.aborted || stop.signal.aborted) throw error;
    } finally {
      connection = undefined;
      search = undefined;
      flush();
    }
    return broken.signal.aborted;
  }

  /** Reads what is new, and announces a restart between the lines of both runs. */
  async function catchUp(): Promise<void> {
    let before: number;
    do {
      before = nextRuns;
      await readNew();
      // A run that began after the read leaves the last lines of the one before.
    } while (nextRuns !== before);
    if (runEnd) announceRestart();
  }

  /** Holds lines until the engine has said, after they were read, which run this is. */
  async function readNew(): Promise<void> {
    const held = createHeldLines(receive);
    const hold = (line: LogLine) => held.add(line) ? checkRun().then(held.release) : undefined;
    try {
      if (last) isSmall = await readLinesAfter(source, last, stop.signal, hold, reportGap);
      else await readLines(source, {}, stop.signal, hold);
      await checkRun();
    } finally {
      held.release();
      flush();
    }
  }

  function reportGap(): void {
    flush();
    for (const subscriber of subscribers) subscriber.onGap();
  }

  /** Finds out whether the container runs, and whether it was started again. */
  async function checkRun(): Promise<void> {
    const { State } = await containerInspect(engine, origin.id, { signal: stop.signal });
    runs ??= createRun(State);
    const { isNext, end } = runs.update(State);
    if (isNext) nextRuns++;
    runEnd = end ?? runEnd;
    isRunning = State.Running && !State.Restarting;
  }

  /** Returns when the log should be followed again: the container runs. */
  async function waitForStart(): Promise<void> {
    for (let round = 0; !stop.signal.aborted; round++) {
      const known = inventory.get(origin.id);
      isWoken = false;
      const before = nextRuns;
      await checkRun();
      if (round < END_READS || nextRuns !== before) await catchUp();
      if (nextRuns !== before) return;
      if (isWoken) continue;
      // The engine may end the stream of a running container, e.g. when it is stopped itself.
      await ticked.promise;
      if (isRunning) return;
      const isUnchanged = () => inventory.live && inventory.get(origin.id) === known && !isWoken;
      while (round >= END_READS - 1 && isUnchanged() && !stop.signal.aborted) await ticked.promise;
    }
  }

  function announceRestart(): void {
    runEnd = undefined;
    flush();
    for (const subscriber of subscribers) subscriber.onRestart();
  }

  function end(reason: EndReason): void {
    flush();
    ended = reason;
    stop.abort();
    onEnd();
    for (const subscriber of [...subscribers]) subscriber.onEnd(reason);
  }
}

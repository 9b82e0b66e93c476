/** Reads from the API for as long as a component is shown. @module */

import { useEffect, useRef } from "preact/hooks";
import { type Signal, useComputed, useSignal } from "@preact/signals";
import { api, ApiError, type InputOf, type ResultOf } from "../api/client.ts";
import type { Operations } from "../api/types.ts";
import { oneAtATime } from "../base/one_at_a_time.ts";
import { readEdition } from "../state/edition.ts";
import { engineReachable, events, host, isVisible, reconnects } from "../state/live.ts";

/** Shortest time between two readings because of changes by others, in milliseconds. */
const REREAD_MS = 5_000;

export interface Reading<Result> {
  /** The last result; stays while it is read again. */
  data: Signal<Result | undefined>;
  /** Why the last reading failed. */
  error: Signal<ApiError | undefined>;
  /** Reads again, e.g. after a change. A reading under way is finished first: changes may be faster. */
  reload: () => void;
}

/**
 * Reads an operation, and again when its input changes, another client has changed the resource, a
 * lost connection is back, or the engine is back after a failure.
 *
 * @param input `undefined` to read nothing yet.
 * @param sources Other resources that the result depends on, e.g. `/api/tokens`.
 */
export function useRead<Name extends keyof Operations>(
  name: Name,
  input: InputOf<Name> | undefined,
  sources: readonly string[] = [],
): Reading<ResultOf<Name>> {
  const data = useSignal<ResultOf<Name> | undefined>(undefined);
  const error = useSignal<ApiError | undefined>(undefined);
  const key = JSON.stringify(input);
  const readAt = useRef(0);
  const read = useRef(() => {});
  useEffect(() => {
    data.value = undefined;
  }, [name, key]);
  useEffect(() => {
    if (input === undefined) return;
    const end = new AbortController();
    const call = api as (...args: unknown[]) => Promise<ResultOf<Name>>;
    read.current = oneAtATime(async () => {
      readAt.current = performance.now();
      try {
        const result = await call(name, input, { signal: end.signal });
        if (end.signal.aborted) return;
        data.value = result;
        error.value = undefined;
      } catch (problem) {
        if (end.signal.aborted) return;
        if (!(problem instanceof ApiError)) throw problem;
        error.value = problem;
        // The license has ended: the page is locked from now on.
        if (problem.status === 402) void readEdition();
      }
    });
    read.current();
    return () => end.abort();
  }, [name, key, reconnects.value > 1 ? reconnects.value : 0]);
  const reload = () => read.current();
  useEffect(() => {
    if (engineReachable.value && error.peek()) reload();
  }, [engineReachable.value]);
  useReloadOnChange([name.split(" ")[1]!, ...sources], () => readAt.current, reload);
  return { data, error, reload };
}

/** Reads again when a resource was changed. `readAt` says when it was read, by `performance.now()`. */
function useReloadOnChange(
  paths: readonly string[],
  readAt: () => number,
  reload: () => void,
): void {
  const count = useComputed(() => host.value && changesOf(paths, host.value.changes)).value;
  const known = useRef(count);
  useEffect(() => {
    const before = known.current;
    known.current = count;
    if (before === undefined || before === count) return;
    const delayMs = Math.max(0, readAt() + REREAD_MS - performance.now());
    const timer = setTimeout(reload, delayMs);
    return () => clearTimeout(timer);
  }, [count]);
}

/** Number of changes of the resources, and of those below or above them. */
function changesOf(paths: readonly string[], counts: Readonly<Record<string, number>>): number {
  let sum = 0;
  for (const [resource, count] of Object.entries(counts)) {
    const isRead = paths.some((path) =>
      `${path}/`.startsWith(`${resource}/`) || `${resource}/`.startsWith(`${path}/`)
    );
    if (isRead) sum += count;
  }
  return sum;
}

/** Reads all of them again. */
export const reloadAll = (...readings: readonly Reading<unknown>[]) => () =>
  readings.forEach(({ reload }) => reload());

/** Reads again when one of these kinds of events arrives, e.g. `monitor.` for all of monitors. */
export function useReloadOn(kinds: string, reload: () => void): void {
  useReloadAfter(events.value.find(({ event }) => event.startsWith(kinds))?.eventId, reload);
}

/** Reads again at intervals what changes without word to some users, such as a hub's copies. */
export function useReloadEvery(ms: number, reload: () => void): void {
  useEffect(() => {
    const timer = setInterval(() => isVisible.value && reload(), ms);
    return () => clearInterval(timer);
  }, []);
}

/** Reads again when a value is another one, e.g. the number of changes. */
export function useReloadAfter(version: unknown, reload: () => void): void {
  const known = useRef(version);
  useEffect(() => {
    if (version === known.current) return;
    known.current = version;
    reload();
  }, [version]);
}

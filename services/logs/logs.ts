/** Reads and searches the logs of containers. @module */

import { type ContainerInspect, containerLogs } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import type { Caller } from "../access/caller.ts";
import type { Holder } from "../access/shares.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { asContainer, inspectContainer } from "../containers/reads.ts";
import { assertMayInspect } from "../containers/own_container.ts";

import { lastEntries } from "./last_entries.ts";
import { type LogFrame, type LogLines, readLogLines } from "./lines.ts";
import { parseSince } from "./start_time.ts";
import { type LogSearchResult, searchLines } from "./search.ts";
import { compileLinearPattern } from "../input/linear_pattern.ts";

/** Selects the lines to read. */
export interface LogsQuery {
  /** Number of lines from the end, 1 to 1 000. */
  tail: number;
  /** ISO 8601, or Unix seconds with or without a fraction. */
  since?: string | undefined;
  stdout: boolean;
  stderr: boolean;
}

/** Selects the lines to find. */
export interface LogsSearchQuery {
  /** Text, or a pattern if `regex` is set; up to 200 characters. */
  query: string;
  regex: boolean;
  /** Lines before and after each match, 0 to 5. */
  context: number;
}

type ReadDeps = Pick<Deps, "engine" | "inventory" | "self">;
type LogDeps = ReadDeps & Pick<Deps, "limiters">;

/** Number of lines that are searched, from the end. */
const SEARCH_LINES_MAX = 10_000;

/** Longest time to read a log, in milliseconds. */
const READ_TIMEOUT_MS = 30_000;

/**
 * A log may have many more entries than requested lines: lines of the other stream, or parts of
 * long lines. It is then read again with this many times the entries, unless that is slow.
 */
const ENTRIES_FACTOR = 10;
const ENTRIES_MAX = 1_000_000;
const QUICK_MS = 2_000;

/**
 * The last lines of a container's log, oldest first, each `RFC3339Nano text`. Standard output and
 * standard error are merged by time.
 *
 * @throws {AppError} `invalid` for an invalid `since`, and if neither stream is selected;
 * `not_found`; `forbidden` for the service's own container unless the caller is an admin; `conflict`
 * if the container's log cannot be read (log driver `none`); `too_many_requests`.
 */
export async function readContainerLogs(
  deps: LogDeps,
  caller: Pick<Caller, "role"> & Holder,
  ref: string,
  { tail, since, stdout, stderr }: LogsQuery,
  signal?: AbortSignal,
): Promise<{ lines: string[] }> {
  const from = since === undefined ? undefined : parseSince(since);
  const streams = [stdout ? "stdout" : "", stderr ? "stderr" : ""].filter((each) => each !== "");
  if (streams.length === 0) {
    throw new AppError("invalid", "query.stdout: At least one of stdout and stderr must be true");
  }
  const selection = { tail, since: from, streams: streams as LogFrame["stream"][] };
  const { lines } = await deps.limiters.logReads(
    caller,
    () => readLog(deps, caller, ref, selection, signal),
  );
  return { lines };
}

/**
 * Searches the last 10 000 lines of a container's log; see `searchLines()`.
 *
 * @throws {AppError} `invalid` for a refused pattern; `not_found`; `forbidden` for the service's own
 * container unless the caller is an admin; `conflict` if the log cannot be read;
 * `too_many_requests`.
 */
export async function searchContainerLogs(
  deps: LogDeps,
  caller: Pick<Caller, "role"> & Holder,
  ref: string,
  { query, regex, context }: LogsSearchQuery,
  signal?: AbortSignal,
): Promise<LogSearchResult> {
  // Refuses a pattern before the log is read.
  if (regex) await compileLinearPattern(query);
  return await deps.limiters.logSearches(caller, async () => {
    const { lines, dropped } = await readLog(deps, caller, ref, {
      tail: SEARCH_LINES_MAX,
      streams: ["stdout", "stderr"],
    }, signal);
    const found = await searchLines(lines, {
      query,
      regex,
      context,
      slices: deps.limiters.searchSlices,
      ...(signal && { signal }),
    });
    return { ...found, truncated: found.truncated || dropped };
  });
}

interface Selection {
  tail: number;
  since?: string | undefined;
  streams: readonly LogFrame["stream"][];
}

async function readLog(
  deps: ReadDeps,
  caller: Pick<Caller, "role">,
  ref: string,
  selection: Selection,
  signal: AbortSignal | undefined,
): Promise<LogLines> {
  const container = await inspectContainer(deps, ref);
  assertMayInspect(asContainer(deps, container), caller);
  const timeout = AbortSignal.timeout(READ_TIMEOUT_MS);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    return await readEntries(deps, container, selection, either);
  } catch (error) {
    if (timeout.aborted && !signal?.aborted) {
      throw new AppError("unavailable", "Timeout while reading the log from the engine", {
        cause: error,
      });
    }
    throw asReadFailure(error);
  }
}

/** Converts the engine's refusal to read a log to an {@linkcode AppError} `conflict`. */
export function asReadFailure(error: unknown): unknown {
  if (!(error instanceof EngineError && UNREADABLE.test(error.message))) return error;
  return new AppError("conflict", `The log cannot be read: ${error.message}`, { cause: error });
}

// Docker responds with 501 or 500, Podman with a different message.
const UNREADABLE = /does not support reading|log driver.*(none|not supported|passthrough)/i;

/**
 * Reads more and more entries until there are enough lines.
 *
 * @throws {EngineError} If the log cannot be read.
 */
export async function readEntries(
  { engine }: Pick<Deps, "engine">,
  { Id, Config }: ContainerInspect,
  { tail, since, streams }: Selection,
  signal: AbortSignal,
): Promise<LogLines> {
  const tty = Config.Tty ?? false;
  const source = { engine, containerId: Id, tty };
  const started = performance.now();
  let before = -1;
  // One line more than requested: the first one may be the end of a longer line.
  for (let entries = tail + 1;; entries *= ENTRIES_FACTOR) {
    // Always both streams: the engine applies `tail` before it filters by stream.
    const range = await lastEntries(source, { tail: entries, since }, signal);
    const frames = await containerLogs(engine, Id, { ...range, timestamps: true, tty, signal });
    const { lines, ...log } = await readLogLines(frames, { tail: tail + 1, streams, tty });
    // Frames of a terminal are not entries: the log was read completely if no line was added.
    const isWhole = tty ? lines.length === before : log.frames < entries;
    if (
      lines.length > tail || isWhole || log.dropped || entries >= ENTRIES_MAX ||
      performance.now() - started > QUICK_MS
    ) return { ...log, lines: lines.slice(-tail) };
    before = lines.length;
  }
}

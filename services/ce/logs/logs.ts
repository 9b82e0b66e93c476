/**
 * A container's log: its last lines, and search in them.
 *
 * @module
 */

import { type ContainerInspect, containerLogs } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { asContainer, inspectContainer } from "../containers/reads.ts";
import { assertMayInspect } from "../containers/own_container.ts";
import { createLimiter } from "../../limiter.ts";
import { type LogFrame, type LogLines, parseSince, readLogLines } from "./lines.ts";
import { type LogSearchResult, searchLines } from "./search.ts";
import { compileLinearPattern } from "./regex/guard.ts";

/** Which lines are wanted. */
export interface LogsQuery {
  /** Number of lines from the end, 1 to 1 000. */
  tail: number;
  /** ISO 8601, or Unix seconds with a fraction or without. */
  since?: string | undefined;
  stdout: boolean;
  stderr: boolean;
}

/** What is looked for. */
export interface LogsSearchQuery {
  /** Text, or a pattern with `regex`; up to 200 characters. */
  query: string;
  regex: boolean;
  /** Lines before and after each match, 0 to 5. */
  context: number;
}

type LogDeps = Pick<Deps, "engine" | "self">;

/** Lines that a search goes through, from the end. */
const SEARCH_LINES_MAX = 10_000;

/** Longest time to read a log, in milliseconds. */
const READ_TIMEOUT_MS = 30_000;

/**
 * A log may have many entries for few wanted lines: of the other stream, or parts of long lines.
 * Then it is read again with so many times the entries, as long as that is quick.
 */
const ENTRIES_FACTOR = 10;
const ENTRIES_MAX = 1_000_000;
const QUICK_MS = 2_000;

// A log that is read takes up to 32 MiB while it is worked on.
const reading = createLimiter({ what: "logs are read", running: 8, waiting: 128 });
const searching = createLimiter({ what: "log searches", running: 4, waiting: 32 });

/**
 * The last lines of a container's log, oldest first, each `RFC3339Nano text`. Standard output and
 * error are merged by time.
 *
 * @throws {AppError} `invalid` for an unusable `since`, and when neither stream is wanted;
 * `not_found`; `forbidden` for the service's own
 * container unless the caller is an admin; `conflict` when the container's log cannot be read (log driver `none`).
 */
export async function readContainerLogs(
  deps: LogDeps,
  caller: Pick<Caller, "role">,
  ref: string,
  { tail, since, stdout, stderr }: LogsQuery,
  signal?: AbortSignal,
): Promise<{ lines: string[] }> {
  const from = since === undefined ? undefined : parseSince(since);
  const streams = [stdout ? "stdout" : "", stderr ? "stderr" : ""].filter((each) => each !== "");
  if (streams.length === 0) {
    throw new AppError("invalid", "query.stdout: At least one of stdout and stderr must be true");
  }
  const { lines } = await reading(() =>
    readLog(
      deps,
      caller,
      ref,
      { tail, since: from, streams: streams as LogFrame["stream"][] },
      signal,
    )
  );
  return { lines };
}

/**
 * Searches the last 10 000 lines of a container's log; see `searchLines()` for what matches.
 *
 * @throws {AppError} `invalid` for a pattern that is refused; `not_found`; `forbidden` for the service's own
 * container unless the caller is an admin; `conflict` when the log
 * cannot be read.
 */
export async function searchContainerLogs(
  deps: LogDeps,
  caller: Pick<Caller, "role">,
  ref: string,
  { query, regex, context }: LogsSearchQuery,
  signal?: AbortSignal,
): Promise<LogSearchResult> {
  // Refused before the engine is asked for anything.
  if (regex) await compileLinearPattern(query);
  return await searching(async () => {
    const { lines, dropped } = await readLog(deps, caller, ref, {
      tail: SEARCH_LINES_MAX,
      streams: ["stdout", "stderr"],
    }, signal);
    const found = await searchLines(lines, { query, regex, context, ...(signal && { signal }) });
    return { ...found, truncated: found.truncated || dropped };
  });
}

interface Wanted {
  tail: number;
  since?: string | undefined;
  streams: LogFrame["stream"][];
}

async function readLog(
  deps: LogDeps,
  caller: Pick<Caller, "role">,
  ref: string,
  wanted: Wanted,
  signal: AbortSignal | undefined,
): Promise<LogLines> {
  const container = await inspectContainer(deps, ref);
  assertMayInspect(asContainer(deps, container), caller);
  const timeout = AbortSignal.timeout(READ_TIMEOUT_MS);
  const either = signal ? AbortSignal.any([signal, timeout]) : timeout;
  try {
    return await readEnough(deps, container, wanted, either);
  } catch (error) {
    if (timeout.aborted && !signal?.aborted) {
      throw new AppError("unavailable", "The container engine took too long to send the log", {
        cause: error,
      });
    }
    if (error instanceof EngineError && UNREADABLE.test(error.message)) {
      throw new AppError("conflict", `The log cannot be read: ${error.message}`, { cause: error });
    }
    throw error;
  }
}

// The engine answers 501 (Docker) or 500; Podman has words of its own.
const UNREADABLE = /does not support reading|log driver.*(none|not supported|passthrough)/i;

async function readEnough(
  { engine }: Pick<Deps, "engine">,
  { Id, Config }: ContainerInspect,
  { tail, since, streams }: Wanted,
  signal: AbortSignal,
): Promise<LogLines> {
  const tty = Config.Tty ?? false;
  const started = performance.now();
  let before = -1;
  // One more than is wanted: the first line may be the end of a long one that began earlier.
  for (let entries = tail + 1;; entries *= ENTRIES_FACTOR) {
    // Both streams always: the engine counts the entries of both before it leaves one out.
    const frames = await containerLogs(engine, Id, {
      tail: entries,
      since,
      timestamps: true,
      tty,
      signal,
    });
    const { lines, ...log } = await readLogLines(frames, { tail: tail + 1, streams, tty });
    // A terminal's frames are no entries: the whole log was read where more of it gave no more.
    const isWhole = tty ? lines.length === before : log.frames < entries;
    if (
      lines.length > tail || isWhole || log.dropped || entries >= ENTRIES_MAX ||
      performance.now() - started > QUICK_MS
    ) return { ...log, lines: lines.slice(-tail) };
    before = lines.length;
  }
}

/** Reads the log of a container from the engine as lines with positions. @module */

import { containerLogs } from "../../../engine/containers.ts";
import type { Engine } from "../../../engine/client.ts";
import { createAssembler, type Line } from "../line_assembler.ts";
import { detectLevel, type LogLevel } from "./level.ts";
import {
  createNumbering,
  isLater,
  isSamePosition,
  type Position,
  sinceBefore,
} from "./position.ts";

/** A line of a log. */
export interface LogLine {
  position: Position;
  /** RFC 3339 with nanoseconds. */
  timestamp: string;
  message: string;
  level: LogLevel | null;
  truncated: boolean;
}

/** Container and streams of a log that is read. */
export interface LogSource {
  engine: Engine;
  containerId: string;
  tty: boolean;
}

export interface ReadRange {
  /** Number of entries from the end; default all. */
  tail?: number | undefined;
  /** Unix seconds with nine decimal places. */
  since?: string | undefined;
  until?: string | undefined;
  follow?: boolean | undefined;
}

/**
 * Receives each line. `false` ends the read. The read continues when a promise resolves, which lets
 * the engine wait.
 */
type LineReceiver = (line: LogLine) => void | boolean | Promise<void | boolean>;

/**
 * Reads a log, and resolves when all of it was received.
 *
 * @returns The number of entries, if the read was not ended. With a terminal, where frames are not
 * entries, that of lines.
 * @throws {EngineError} 404 if the container does not exist.
 */
export async function readLines(
  { engine, containerId, tty }: LogSource,
  range: ReadRange,
  signal: AbortSignal,
  receive: LineReceiver,
): Promise<number | undefined> {
  const frames = await containerLogs(engine, containerId, {
    ...range,
    timestamps: true,
    tty,
    signal,
  });
  const numbered = createNumbering();
  let lines: LogLine[] = [];
  let entries = 0;
  const assembler = (stream: Position["stream"]) =>
    createAssembler(
      tty,
      (line) => {
        if (tty) entries++;
        lines.push(toLogLine(line, numbered(stream, line.stamp)));
      },
      engine.kind === "docker",
    );
  const assemblers = { stdout: assembler("stdout"), stderr: assembler("stderr") };
  /** @returns Whether to continue. */
  const receiveAll = (): boolean | Promise<boolean> => {
    const complete = lines;
    lines = [];
    for (let index = 0; index < complete.length; index++) {
      const result = receive(complete[index]!);
      if (result === false) return false;
      if (typeof result === "object") {
        lines = [...complete.slice(index + 1), ...lines];
        return result.then((more) => more !== false && receiveAll());
      }
    }
    return true;
  };

  for await (const { stream, bytes } of frames) {
    if (!tty) entries++;
    assemblers[stream].add(bytes);
    if (lines.length === 0) continue;
    const more = receiveAll();
    if (!(typeof more === "object" ? await more : more)) return undefined;
  }
  assemblers.stdout.end();
  assemblers.stderr.end();
  return await receiveAll() ? entries : undefined;
}

function toLogLine({ stamp, text, truncated }: Line, position: Position): LogLine {
  return {
    position,
    timestamp: stamp.text,
    message: text,
    level: detectLevel(text),
    truncated,
  };
}

/**
 * Numbers of entries to read from the end, until the position is among them. A read by time would lose
 * lines: Docker takes the time of a line before the line waits for its turn behind those of the other
 * stream, and a clock may be set back, so that lines after the position may have an earlier time.
 */
const TAILS = [1_000, 4_000, 16_000, 64_000, 256_000, 1_000_000, 4_000_000];

/** A clock is set back by less, in seconds. Lines are read from this time before a position. */
const CLOCK_STEP_S = 60;

/** Size of lines that wait until it is known where a read began, in characters. */
const HELD_MAX = 4 * 1024 * 1024;

/** Size of a line beyond its text. */
const LINE_COST = 128;

/** A log with fewer entries is followed from its beginning. */
const SMALL_ENTRIES = TAILS[0]! / 2;

/**
 * Reads the lines after a position, up to the present end of the log.
 *
 * @param onMissing Called if the line at the position no longer exists. Then all lines after its time
 * are read, and an unknown number of lines may be missing before them.
 * @returns Whether the log is small, for {@linkcode followLinesAfter}.
 */
export async function readLinesAfter(
  source: LogSource,
  position: Position,
  signal: AbortSignal,
  receive: LineReceiver,
  onMissing: () => void,
): Promise<boolean> {
  for (const range of rangesFor(source, position)) {
    const search = createSearch(position, range);
    const held: LogLine[] = [];
    let size = 0;
    const entries = await readLines(source, range, signal, (line) => {
      if (!search.isFound) return search.isHopeless(line) ? false : undefined;
      if (!search.isUnsure) return receive(line);
      held.push(line);
      size += line.message.length + LINE_COST;
      return size > HELD_MAX ? false : undefined;
    });
    const isWhole = entries !== undefined && entries < (range.tail ?? Infinity);
    if (search.isFound && (isWhole || !search.isUnsure)) {
      for (const line of held) if (await receive(line) === false) break;
      return isWhole && range.since === undefined && entries < SMALL_ENTRIES;
    }
  }
  onMissing();
  await readLines(source, { since: sinceBefore(position) }, signal, (line) => {
    return isLater(line.position, position) ? receive(line) : undefined;
  });
  return false;
}

/**
 * Follows a log from the line after a position, until the engine ends it.
 *
 * @param position `undefined` for the beginning.
 * @param options.isSmall Whether the log had few entries a moment ago.
 * @param options.onFound Called when the position was found.
 * @returns Whether the position was found.
 */
export async function followLinesAfter(
  source: LogSource,
  position: Position | undefined,
  signal: AbortSignal,
  receive: LineReceiver,
  { isSmall, onFound }: { isSmall: boolean; onFound: () => void },
): Promise<boolean> {
  if (!position) {
    onFound();
    await readLines(source, { follow: true }, signal, receive);
    return true;
  }
  const ranges = rangesFor(source, position);
  for (const range of isSmall ? ranges.slice(-1) : ranges) {
    const followed = { ...range, follow: true };
    const search = createSearch(position, followed, { isSmall });
    await readLines(source, followed, signal, (line) => {
      if (search.isFound) return receive(line);
      // The end of a followed log never shows whether this is all of it.
      if (search.isHopeless(line) || search.isUnsure) return false;
      if (search.isFound) onFound();
      return true;
    });
    if (search.isFound || signal.aborted) return true;
  }
  return false;
}

/**
 * Ranges of the log in which a position is searched, one after the other.
 *
 * Podman stores a line that arrives in pieces as several entries, and a read of the last entries
 * (4.3 does) adds the first piece to the line before. Its logs are therefore read by time.
 */
function rangesFor({ engine }: LogSource, { seconds }: Position): readonly ReadRange[] {
  if (engine.kind !== "podman") return [...TAILS.map((tail) => ({ tail })), {}];
  const earliest = { seconds: Math.max(1, seconds - CLOCK_STEP_S), nanos: 0 };
  return [{ since: sinceBefore(earliest) }, {}];
}

/** Searches the lines of a read for a position. */
function createSearch(
  position: Position,
  { tail, follow }: ReadRange,
  { isSmall = false }: { isSmall?: boolean } = {},
) {
  // Times only save work here: a few lines are searched in any case, and so is the whole log at last.
  const isLongRead = tail === undefined ? follow && !isSmall : tail > TAILS[0]!;
  let isFound = false;
  let isUnsure = false;
  let lines = 0;
  return {
    get isFound() {
      return isFound;
    },
    /** Whether the read may begin too late to count equal times, unless it has the whole log. */
    get isUnsure() {
      return isUnsure;
    },
    /** Whether the read begins too late to contain the position. */
    isHopeless(line: LogLine): boolean {
      if (lines++ === 0) {
        if (isLater(line.position, position)) {
          if (isLongRead) return true;
        } else isUnsure = tail !== undefined && !isLater(position, line.position);
      }
      if (tail !== undefined && lines > tail) return true;
      isFound = isSamePosition(line.position, position);
      return false;
    },
  };
}

/**
 * Reads the last lines of a log. Those of Podman are read by time (see {@linkcode rangesFor}), from
 * before the first one, which may begin in an earlier entry, and with exact positions also if times
 * are whole seconds.
 */
export async function readLastLines(
  source: LogSource,
  range: ReadRange,
  signal: AbortSignal,
  receive: LineReceiver,
): Promise<void> {
  const { tail } = range;
  if (tail === undefined || source.engine.kind !== "podman") {
    return void await readLines(source, range, signal, receive);
  }
  let first: Position | undefined;
  await readLines(source, { ...range, tail: tail + 1 }, signal, ({ position }) => {
    first = position;
    return false;
  });
  if (!first) return;
  // It is one of many with the same time; only a read of them all can number them.
  const since = sinceBefore(first);
  let count = 0;
  await readLines(source, { ...range, tail: undefined, since }, signal, () => void count++);
  let skipped = count - tail;
  await readLines(
    source,
    { ...range, tail: undefined, since },
    signal,
    (line) => skipped-- > 0 ? undefined : receive(line),
  );
}

/** Enough entries to count the lines with the same time as the last one. */
const LAST_ENTRIES = 100;

/** Position of the last line of a log; `undefined` if it has none. */
export async function lastPosition(
  source: LogSource,
  signal: AbortSignal,
): Promise<Position | undefined> {
  let last: Position | undefined;
  await readLastLines(
    source,
    { tail: LAST_ENTRIES },
    signal,
    ({ position }) => void (last = position),
  );
  return last;
}

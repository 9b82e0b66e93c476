/**
 * Reads the last log lines of a container that crashed, while the message about it waits for an
 * outage of the engine.
 *
 * @module
 */

import { containerInspect } from "../../engine/containers.ts";
import type { Deps } from "../deps.ts";
import { inline, truncate } from "../events/text.ts";
import type { AppEvent } from "../events/events.ts";
import { type ExitEvent, isExit } from "../events/message.ts";
import { errorFields } from "../log.ts";
import type { Worker } from "../lifecycle.ts";
import { keepCrashLines } from "../containers/crash_lines.ts";
import type { LogSource } from "../logs/follow/line_reader.ts";
import { HOLD_MS } from "./causes.ts";

/** Lines in a message, and the limit of each in UTF-16 code units. */
export const LOG_LINES_MAX = 3;
const LINE_MAX = 200;

/**
 * Numbers of entries to read from the end, until there are enough lines: the last ones may be from the
 * next run of the container, and a long line has many entries.
 */
const TAILS = [30, 300, 3_000];

/** Logs that are read at once; the others are left out, as those of a slow engine are. */
const PARALLEL_MAX = 4;

/** Escape sequences of terminals. */
const COLORS = /\p{Cc}\[[\d;]*[A-Za-z]/gu;

type ReadDeps = Pick<Deps, "crashLines" | "engine" | "log">;

export const crashLogReader: Worker = {
  name: "crash log reader",
  edition: "ce",
  async run(deps, signal) {
    const reading = new Set<Promise<void>>();
    for await (const event of deps.events.subscribe(signal)) {
      if (!isCrash(event) || reading.size >= PARALLEL_MAX) continue;
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(HOLD_MS)]);
      const read = readCrashLines(deps, event, inTime).finally(() => reading.delete(read));
      reading.add(read);
    }
    await Promise.all(reading);
  },
};

/**
 * Keeps the last lines before a crash.
 *
 * @param signal Ends the read when the message is sent without them.
 */
export async function readCrashLines(
  { crashLines, engine, log }: ReadDeps,
  { data: { id }, eventId, timestamp }: ExitEvent,
  signal: AbortSignal,
): Promise<void> {
  try {
    const { Config } = await containerInspect(engine, id, { signal });
    const source = { engine, containerId: id, tty: Config.Tty ?? false };
    const last = await readLastLines(source, Date.parse(timestamp), signal);
    keepCrashLines(crashLines, eventId, last.map((text) => `Log: ${text}`));
  } catch (error) {
    // E.g. a container that was removed, or a log driver that cannot be read.
    log.debug("log of a crashed container not read", { container: id, ...errorFields(error) });
  }
}

/** The last lines before a time, cut. */
async function readLastLines(
  source: LogSource,
  beforeMs: number,
  signal: AbortSignal,
): Promise<string[]> {
  const [{ readLines }, { lastEntries }] = await Promise.all([
    import("../logs/follow/line_reader.ts"),
    import("../logs/last_entries.ts"),
  ]);
  let last: string[] = [];
  for (const tail of TAILS) {
    // The first line of a read may be the end of a longer one.
    let first: string | undefined;
    let isFirst = true;
    last = [];
    const range = await lastEntries(source, { tail }, signal);
    const entries = await readLines(source, range, signal, (line) => {
      const text = lineText(line.message);
      const isShown = text !== "" && Date.parse(line.timestamp) <= beforeMs;
      if (isShown && isFirst) first = text;
      else if (isShown && last.push(text) > LOG_LINES_MAX) last.shift();
      isFirst = false;
    });
    if (last.length === LOG_LINES_MAX) return last;
    if (first !== undefined) last.unshift(first);
    // Frames of a terminal are not entries.
    if (!source.tty && entries !== undefined && entries < tail) return last;
  }
  return last;
}

/** The output of a program for a message: short, on one line and without colors. */
export const lineText = (output: string): string =>
  inline(truncate(output.replace(COLORS, ""), LINE_MAX));

/** An orderly stop needs no explanation. */
const isCrash = (event: AppEvent): event is ExitEvent =>
  isExit(event) && event.data.reason !== "stopped" && event.data.exitCode !== 0;

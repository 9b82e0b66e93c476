/** Searches the log of a new container for a line that must not appear. @module */

import type { Engine } from "../../../engine/client.ts";
import type { ContainerInspect } from "../../../engine/containers.ts";
import { EngineError, ifThere } from "../../../engine/errors.ts";
import { createYield } from "../../waiting.ts";
import { compileLinearPattern } from "../../input/linear_pattern.ts";
import { type LogLine, readLines, readLinesAfter } from "../../logs/follow/line_reader.ts";
import type { Position } from "../../logs/follow/position.ts";
import { nameOf } from "../recreate/replace.ts";
import { inspectIfThere } from "./members.ts";
import type { Obstacle } from "./survey.ts";

/** Longest time of one search of the new lines, in milliseconds. */
const SEARCH_MS = 30_000;

/** Log drivers from which no engine reads. */
const UNREADABLE = ["none", "passthrough", "passthrough-tty"];

/** Log drivers from which Docker reads without a copy on the host. */
const READABLE = ["json-file", "local", "journald"];

const UNCHECKED = "so that logPatternMustNotAppear cannot be checked";

/** An obstacle if the log of a container is known to be unreadable, and so that of its successor. */
export function logObstacles(
  { kind }: Pick<Engine, "kind">,
  old: ContainerInspect,
  pattern: string | undefined,
): Obstacle[] {
  const { Type = "", Config } = old.HostConfig.LogConfig ?? {};
  const isWithoutCopy = kind === "docker" && Type !== "" && !READABLE.includes(Type) &&
    /^(1|t|true)$/i.test(Config?.["cache-disabled"] ?? "");
  if (pattern === undefined || !(UNREADABLE.includes(Type) || isWithoutCopy)) return [];
  const message = `The log of ${
    nameOf(old)
  } cannot be read with its log driver ${Type}, ${UNCHECKED}`;
  return [{ message, canForce: false }];
}

/**
 * The last lines of both streams may be incomplete, so that they are read again: the search goes on
 * after the line before them.
 */
const OPEN_LINES_MAX = 2;

/**
 * Creates a search of the lines that are new since the one before, each line up to 16 KiB.
 *
 * @returns A function that returns why the container fails: a line matches, or lines cannot be read.
 * @throws {AppError} `invalid` for a refused pattern.
 */
export async function createLogSearch(
  engine: Engine,
  id: string,
  { text, signal, searchMs = SEARCH_MS }: { text: string; signal: AbortSignal; searchMs?: number },
): Promise<() => Promise<string | undefined>> {
  const pattern = await compileLinearPattern(text, { field: "body.logPatternMustNotAppear" });
  let last: Position[] = [];

  const search = async (tty: boolean, until: AbortSignal): Promise<string | undefined> => {
    const yieldIfLong = createYield(until);
    let isFound = false;
    let isMissing = false;
    const from = last.length > OPEN_LINES_MAX ? last[0] : undefined;
    last = from ? [from] : [];
    const receive = async ({ position, message }: LogLine) => {
      isFound = pattern.test(message);
      last = [...last.slice(-OPEN_LINES_MAX), position];
      await yieldIfLong();
      return !isFound;
    };
    const source = { engine, containerId: id, tty };
    if (!from) await readLines(source, {}, until, receive);
    else await readLinesAfter(source, from, until, receive, () => void (isMissing = true));
    if (isFound) return "logged a line that must not appear";
    return isMissing ? `lost lines of its log by rotation, ${UNCHECKED}` : undefined;
  };

  return async () => {
    const container = await inspectIfThere(engine, id);
    // A removed container fails for that reason.
    if (!container) return undefined;
    const timeout = AbortSignal.timeout(searchMs);
    try {
      const work = search(container.Config.Tty ?? false, AbortSignal.any([signal, timeout]));
      return await ifThere(work);
    } catch (error) {
      signal.throwIfAborted();
      if (timeout.aborted) {
        return `has a log that cannot be searched within ${searchMs / 1000} s, ${UNCHECKED}`;
      }
      if (error instanceof EngineError) return `has a log that cannot be read, ${UNCHECKED}`;
      throw error;
    }
  };
}

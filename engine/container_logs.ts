/** Logs of containers: their standard output and error. @module */

import type { Engine } from "./client.ts";
import { containerInspect } from "./container_inspect.ts";
import { type Frame, frames, rawFrames } from "./frames.ts";
import { segment } from "./path.ts";

export interface ContainerLogsOptions {
  /** Number of lines from the end, or all. */
  tail?: number | "all" | undefined;
  /** Unix seconds, fractions allowed (`1700000000.123456789`), or RFC 3339. */
  since?: number | string | undefined;
  until?: number | string | undefined;
  /** Both default to true. */
  stdout?: boolean | undefined;
  stderr?: boolean | undefined;
  /** Each line begins with its RFC 3339 time and a space. */
  timestamps?: boolean | undefined;
  /** Keeps streaming new output. */
  follow?: boolean | undefined;
  /** Whether the container has a terminal; read from the engine if not given. */
  tty?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * The log of a container, as frames in the order written. With a terminal all of it is `stdout`.
 * The promise resolves as soon as the status is known. A line may span several frames.
 *
 * @throws {EngineError} 404 if the container does not exist.
 */
export async function containerLogs(
  engine: Engine,
  id: string,
  options: ContainerLogsOptions = {},
): Promise<AsyncIterable<Frame>> {
  const { stdout = true, stderr = true, signal } = options;
  const tty = options.tty ?? Boolean((await containerInspect(engine, id, { signal })).Config.Tty);
  const { body } = await engine.request("GET", `/containers/${segment("container", id)}/logs`, {
    query: {
      stdout,
      stderr,
      tail: options.tail,
      since: options.since,
      until: options.until,
      timestamps: options.timestamps,
      follow: options.follow,
    },
    signal,
    long: true,
  });
  return tty ? rawFrames(body) : frames(body);
}

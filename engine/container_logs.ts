/**
 * What containers wrote to their standard output and error.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { containerInspect } from "./container_inspect.ts";
import { type Frame, frames, rawFrames } from "./frames.ts";
import { segment } from "./path.ts";

export interface ContainerLogsOptions {
  /** Number of lines from the end, or all of them. */
  tail?: number | "all" | undefined;
  /** Unix seconds, fractions allowed (`1700000000.123456789`), or RFC 3339. */
  since?: number | string | undefined;
  until?: number | string | undefined;
  /** Both default to true. */
  stdout?: boolean | undefined;
  stderr?: boolean | undefined;
  /** Each line begins with its RFC 3339 time and a space. */
  timestamps?: boolean | undefined;
  /** Goes on with what is written from now on. */
  follow?: boolean | undefined;
  /** Whether the container has a terminal; asked from the engine where it is not given. */
  tty?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Log of a container, as frames in the order in which they were written. With a terminal all is
 * `stdout`. The status is known when the promise resolves, before anything is read. Lines may be
 * spread over frames.
 *
 * @throws {EngineError} 404 when there is no such container.
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

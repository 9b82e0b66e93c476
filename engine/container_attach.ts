/** Connections to the main process of a container. @module */

import type { Engine } from "./client.ts";
import { DETACH_KEYS, type ExecConnection } from "./exec.ts";
import { frames, rawFrames } from "./frames.ts";
import { segment } from "./path.ts";
import type { Signal } from "./query.ts";

/**
 * Connects to the input and output of a container's main process. The output ends when the process
 * exits; closing the connection earlier does not stop it.
 *
 * @param options.tty Whether the container has a terminal.
 * @param options.stdin Whether to connect to its input as well.
 * @throws {EngineError} 404 if the container does not exist; 409 if it is paused.
 */
export async function containerAttach(
  engine: Engine,
  id: string,
  { tty, stdin, signal }: { tty: boolean; stdin: boolean } & Signal,
): Promise<ExecConnection> {
  const connection = await engine.upgrade(`/containers/${segment("container", id)}/attach`, {
    query: { stream: true, stdin, stdout: true, stderr: true, detachKeys: DETACH_KEYS },
    long: true,
    signal,
  });
  return Object.assign(connection, {
    frames: tty ? rawFrames(connection.readable) : frames(connection.readable),
  });
}

/**
 * Sets the size of the terminal of a container's main process.
 *
 * @throws {EngineError} 404 if the container does not exist; 409 or 500 if it is not running.
 */
export async function containerResize(
  engine: Engine,
  id: string,
  { cols, rows, signal }: { cols: number; rows: number } & Signal,
): Promise<void> {
  const path = `/containers/${segment("container", id)}/resize` as const;
  await engine.send("POST", path, { query: { w: cols, h: rows }, signal });
}

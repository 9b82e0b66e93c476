/** Running programs in a container. @module */

import type { Engine, HijackedConnection } from "./client.ts";
import { type Frame, frames, rawFrames } from "./frames.ts";
import { segment } from "./path.ts";
import type { Signal } from "./query.ts";

export interface ExecCreateOptions {
  /** Program and arguments; no shell is involved. */
  cmd: readonly string[];
  /** `user` or `user:group`. */
  user?: string | undefined;
  workingDir?: string | undefined;
  /** `NAME=value`. */
  env?: readonly string[] | undefined;
  tty?: boolean | undefined;
  /** With all privileges of the host. */
  privileged?: boolean | undefined;
  /** Keeps the program's standard input open until `closeWrite()`. */
  stdin?: boolean | undefined;
  /** Keys that detach the client, see {@linkcode DETACH_KEYS}. Default: those of the engine. */
  detachKeys?: string | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * Keys that are not typed by accident. The engine's own, ctrl-p and ctrl-q, would delay every ctrl-p, with which
 * shells show the previous command.
 */
export const DETACH_KEYS = "ctrl-@,ctrl-^,ctrl-_";

/** A program's input and output. */
export interface ExecConnection extends HijackedConnection {
  /** Output in the order written; with a terminal all of it is `stdout`. Can be read once. */
  readonly frames: AsyncIterable<Frame>;
}

/** Response of `GET /exec/{id}/json`. */
export interface ExecInspect {
  ID: string;
  Running: boolean;
  /** Null (0 on Podman) while running; 126 if the program cannot be run, 127 if not found. */
  ExitCode: number | null;
  /** Process id on the host; 0 if it is not running. */
  Pid: number;
  ContainerID: string;
  [field: string]: unknown;
}

/**
 * Creates an exec instance without starting it.
 *
 * @throws {EngineError} 404 if the container does not exist; 409 if it is not running.
 */
export async function execCreate(
  engine: Engine,
  containerId: string,
  options: ExecCreateOptions,
): Promise<{ id: string }> {
  const { Id } = await engine.json<{ Id: string }>(
    "POST",
    `/containers/${segment("container", containerId)}/exec`,
    {
      body: {
        AttachStdin: options.stdin ?? false,
        AttachStdout: true,
        AttachStderr: true,
        Tty: options.tty ?? false,
        Cmd: options.cmd,
        Env: options.env,
        User: options.user,
        Privileged: options.privileged,
        WorkingDir: options.workingDir,
        DetachKeys: options.detachKeys,
      },
      signal: options.signal,
    },
  );
  return { id: Id };
}

/**
 * Starts an exec instance and connects to it. The output ends when the program exits; closing the
 * connection earlier does not stop the program.
 *
 * @param options.tty As in `execCreate()`.
 * @param options.long Set for a program that may run for long (see `RequestOptions.long`).
 * @throws {EngineError} 404 if the exec instance does not exist; 409 if the container is not
 * running.
 */
export async function execStart(
  engine: Engine,
  execId: string,
  { tty = false, long, detachKeys, signal }:
    & Pick<ExecCreateOptions, "tty" | "detachKeys" | "signal">
    & { long?: boolean | undefined } = {},
): Promise<ExecConnection> {
  const connection = await engine.upgrade(`/exec/${segment("exec instance", execId)}/start`, {
    body: { Detach: false, Tty: tty, DetachKeys: detachKeys },
    long,
    signal,
  });
  return Object.assign(connection, {
    frames: tty ? rawFrames(connection.readable) : frames(connection.readable),
  });
}

/** @throws {EngineError} 404 if the exec instance does not exist. */
export function execInspect(
  engine: Engine,
  execId: string,
  { signal }: Signal = {},
): Promise<ExecInspect> {
  return engine.json("GET", `/exec/${segment("exec instance", execId)}/json`, { signal });
}

/**
 * Sets the size of the program's terminal.
 *
 * @throws {EngineError} 404 if the exec instance does not exist; 409 or 500 if it is not running.
 */
export async function execResize(
  engine: Engine,
  execId: string,
  { cols, rows, signal }: { cols: number; rows: number } & Signal,
): Promise<void> {
  const path = `/exec/${segment("exec instance", execId)}/resize` as const;
  await engine.send("POST", path, { query: { w: cols, h: rows }, signal });
}

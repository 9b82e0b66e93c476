/**
 * Programs that are run in a running container.
 *
 * @module
 */

import type { Engine, HijackedConnection } from "./client.ts";
import { type Frame, frames, rawFrames } from "./frames.ts";
import { segment } from "./path.ts";

export interface ExecCreateOptions {
  /** Program and arguments; no shell is involved. */
  cmd: readonly string[];
  /** `user` or `user:group`. */
  user?: string | undefined;
  workingDir?: string | undefined;
  /** `NAME=value`. */
  env?: readonly string[] | undefined;
  tty?: boolean | undefined;
  /** Keeps the program's input open; end it with `closeWrite()`. */
  stdin?: boolean | undefined;
  /** Both default to true. */
  stdout?: boolean | undefined;
  stderr?: boolean | undefined;
  signal?: AbortSignal | undefined;
}

/** A program's input and output. */
export interface ExecConnection extends HijackedConnection {
  /** Output in the order in which it was written; with a terminal all is `stdout`. Read once. */
  readonly frames: AsyncIterable<Frame>;
}

/** Answer of `GET /exec/{id}/json`. */
export interface ExecInspect {
  ID: string;
  Running: boolean;
  /** Null (0 on Podman) before the end; 126 and 127 when the program cannot be run or found. */
  ExitCode: number | null;
  /** In the host's numbering; 0 when it does not run. */
  Pid: number;
  ContainerID: string;
  ProcessConfig?: { entrypoint?: string; arguments?: string[] | null; tty?: boolean };
  [field: string]: unknown;
}

/**
 * Prepares a program; it does not run yet.
 *
 * @throws {EngineError} 404 when there is no such container; 409 when it does not run.
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
        AttachStdout: options.stdout ?? true,
        AttachStderr: options.stderr ?? true,
        Tty: options.tty ?? false,
        Cmd: options.cmd,
        Env: options.env,
        User: options.user,
        WorkingDir: options.workingDir,
      },
      signal: options.signal,
    },
  );
  return { id: Id };
}

/**
 * Runs a prepared program and connects to it. The output ends when the program does; closing the
 * connection before does not end the program.
 *
 * @param options.tty As at `execCreate()`.
 * @throws {EngineError} 404 when there is no such program; 409 when the container does not run.
 */
export async function execStart(
  engine: Engine,
  execId: string,
  { tty = false, signal }: { tty?: boolean | undefined; signal?: AbortSignal | undefined } = {},
): Promise<ExecConnection> {
  const connection = await engine.upgrade(`/exec/${segment("exec instance", execId)}/start`, {
    body: { Detach: false, Tty: tty },
    signal,
  });
  return Object.assign(connection, {
    frames: tty ? rawFrames(connection.readable) : frames(connection.readable),
  });
}

/** @throws {EngineError} 404 when there is no such program. */
export function execInspect(
  engine: Engine,
  execId: string,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<ExecInspect> {
  return engine.json("GET", `/exec/${segment("exec instance", execId)}/json`, { signal });
}

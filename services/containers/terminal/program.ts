/** The program behind a terminal: a new shell, or the main process of a container. @module */

import { containerAttach, containerResize } from "../../../engine/container_attach.ts";
import { containerInspect } from "../../../engine/containers.ts";
import {
  DETACH_KEYS,
  execCreate,
  execInspect,
  execResize,
  execStart,
} from "../../../engine/exec.ts";
import type { Frame } from "../../../engine/frames.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { sleep } from "../../waiting.ts";
import type { TerminalGrant } from "../../access/caller.ts";
import { exitCodeOf, NOT_RUNNABLE } from "../exec/exec.ts";
import { hangUpVariable } from "./hang_up.ts";
import { endShell, recordShell } from "./shells.ts";

type ProgramDeps = Pick<Deps, "db" | "engine" | "now" | "terminals">;

export interface TerminalProgram {
  /** As shown in the logs, e.g. `bash`. */
  command: string;
  /** Ends when the program exits. Can be read once. */
  output: AsyncIterable<Uint8Array>;
  write(bytes: Uint8Array): Promise<void>;
  resize(size: { cols: number; rows: number }): Promise<void>;
  /** The exit code after the end of the output; `null` if it is unknown. */
  exitCode(): Promise<number | null>;
  /** Disconnects. A shell is hung up; a container's main process keeps running. */
  leave(): Promise<void>;
}

const SHELLS = [["bash"], ["sh"], ["ash"]];

/**
 * Longest wait for the process id of a program, and interval between questions, in milliseconds.
 */
const START_WAIT_MS = 10_000;
const START_POLL_MS = 20;

/**
 * Starts the first of the granted command, `bash`, `sh` and `ash` that exists in the container.
 *
 * @param signal Closes the connection.
 * @throws {AppError} `conflict` if none exists.
 * @throws {EngineError}
 */
export async function startShell(
  deps: ProgramDeps,
  grant: TerminalGrant,
  signal: AbortSignal,
): Promise<TerminalProgram> {
  const candidates = [...(grant.command ? [grant.command] : []), ...SHELLS];
  for (const argv of candidates) {
    const program = await startProgram(deps, grant, argv, signal);
    if (program) return program;
  }
  const names = candidates.map(([name]) => name).join(", ");
  throw new AppError("conflict", `The container has none of these programs: ${names}`);
}

/** @returns `undefined` if the program does not exist or cannot be run. */
async function startProgram(
  deps: ProgramDeps,
  { containerId, user, cols, rows }: TerminalGrant,
  argv: readonly string[],
  signal: AbortSignal,
): Promise<TerminalProgram | undefined> {
  const { engine } = deps;
  const shell = { mark: crypto.randomUUID(), containerId, user };
  const { id } = await execCreate(engine, containerId, {
    cmd: argv,
    user: user ?? undefined,
    env: ["TERM=xterm-256color", hangUpVariable(shell.mark)],
    tty: true,
    stdin: true,
    detachKeys: DETACH_KEYS,
    signal,
  });
  recordShell(deps, shell);
  const end = () => endShell(deps, shell, async () => (await execInspect(engine, id)).Running);
  const forget = () => endShell(deps, shell, () => Promise.resolve(false));
  const connection = await execStart(engine, id, {
    tty: true,
    long: true,
    detachKeys: DETACH_KEYS,
    signal,
  }).catch(async (error) => {
    if (error instanceof Error && NOT_RUNNABLE.test(error.message)) return await forget();
    // The engine may have started it. If it cannot be ended now, that is repeated.
    await end().catch(() => {});
    throw error;
  });
  if (!connection) return undefined;

  const leave = () => {
    connection.close();
    return end();
  };
  const frames = connection.frames[Symbol.asyncIterator]();
  const first = frames.next();
  // Fails only if the connection is closed meanwhile; the reader of the output sees it.
  first.catch(() => {});
  const resize: TerminalProgram["resize"] = (size) => execResize(engine, id, size);
  try {
    const state = await awaitStart(engine, id, first, signal);
    if (state === "missing") {
      connection.close();
      await forget();
      return undefined;
    }
    // Docker waits 10 s for the start of a program that has ended.
    if (state === "running") await resize({ cols, rows }).catch(() => {});
    signal.throwIfAborted();
  } catch (error) {
    await leave();
    throw error;
  }
  return {
    command: argv.join(" "),
    output: bytesOf(resumed(first, frames)),
    write: (bytes) => connection.write(bytes),
    resize,
    exitCode: () => exitCodeOf(() => execInspect(engine, id)),
    leave,
  };
}

/**
 * Waits until the engine has started the program. Some engines accept the start of a program that
 * does not exist, write a message to its output, and end it with exit code 126 or 127.
 */
async function awaitStart(
  engine: Deps["engine"],
  execId: string,
  first: Promise<IteratorResult<Frame>>,
  signal: AbortSignal,
): Promise<"running" | "ended" | "missing"> {
  for (const until = performance.now() + START_WAIT_MS; performance.now() < until;) {
    const { Running, Pid, ExitCode } = await execInspect(engine, execId, { signal });
    if (Running && Pid > 0) return "running";
    if (!Running && ExitCode !== null) {
      if (ExitCode !== 126 && ExitCode !== 127) return "ended";
      const { done, value } = await first;
      const isKnown = !done && !NOT_RUNNABLE.test(new TextDecoder().decode(value.bytes));
      return isKnown ? "ended" : "missing";
    }
    await sleep(START_POLL_MS, signal);
    signal.throwIfAborted();
  }
  return "running";
}

/**
 * Connects to the main process of a container. Without a terminal, standard output and error are
 * joined; without an open input, what is written is dropped.
 *
 * @param signal Closes the connection.
 * @throws {AppError} `conflict` if the container is not running.
 * @throws {EngineError}
 */
export async function attachToContainer(
  { engine }: Pick<ProgramDeps, "engine">,
  { containerId, cols, rows }: TerminalGrant,
  signal: AbortSignal,
): Promise<TerminalProgram> {
  const inspect = await containerInspect(engine, containerId, { signal });
  const { Config: { Tty, OpenStdin }, State, Path, Args } = inspect;
  if (!State.Running) throw new AppError("conflict", "The container is not running");
  const tty = Tty ?? false;
  const stdin = OpenStdin ?? false;
  const connection = await containerAttach(engine, containerId, { tty, stdin, signal });
  const resize: TerminalProgram["resize"] = async (size) => {
    if (tty) await containerResize(engine, containerId, size);
  };
  await resize({ cols, rows }).catch(() => {}); // it may have exited
  return {
    command: [Path, ...(Args ?? [])].join(" "),
    output: bytesOf(connection.frames),
    async write(bytes) {
      if (stdin) await connection.write(bytes);
    },
    resize,
    exitCode: () => exitCodeOf(async () => (await containerInspect(engine, containerId)).State),
    leave() {
      connection.close();
      return Promise.resolve();
    },
  };
}

async function* bytesOf(frames: AsyncIterable<Frame>): AsyncGenerator<Uint8Array> {
  for await (const { bytes } of frames) yield bytes;
}

/** Continues an iteration whose first result was already requested. */
async function* resumed(
  first: Promise<IteratorResult<Frame>>,
  rest: AsyncIterator<Frame>,
): AsyncGenerator<Frame> {
  for (let next = await first; !next.done; next = await rest.next()) yield next.value;
}

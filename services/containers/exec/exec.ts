/** Runs commands in containers. @module */

import { execCreate, execInspect, execStart } from "../../../engine/exec.ts";
import { EngineError } from "../../../engine/errors.ts";
import type { Frame } from "../../../engine/frames.ts";
import type { Caller } from "../../access/caller.ts";
import type { Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertRunning } from "../containers.ts";
import { assertMayInspect } from "../own_container.ts";
import { type ReadDeps, resolveContainer } from "../reads.ts";
import { assertExecAllowed, parseExecAllowlist } from "./allowlist.ts";
import { sleep } from "../../waiting.ts";
import { splitWords } from "./shell_words.ts";

/** The output and exit code of a command. */
interface ExecResult {
  stdout: string;
  stderr: string;
  /** Both streams in order of arrival. */
  output: string;
  /** 127 if the program does not exist, 126 if it is not executable; null if it did not exit. */
  exitCode: number | null;
  /** Whether output beyond the limit was dropped. */
  truncated: boolean;
  /** Whether the timeout expired; the command may still be running. */
  timedOut: boolean;
}

export interface ExecLimits {
  /** Default 30 000. */
  timeoutMs?: number;
  /** Limit of each stream in bytes, default 1 MiB. */
  streamMax?: number;
}

const COMMAND_LENGTH_MAX = 500;
const TIMEOUT_MS = 30_000;
const STREAM_MAX = 1024 * 1024;

/** Bytes beyond the limit that are still read and dropped, so that the program can finish. */
const EXCESS_MAX = 16 * 1024 * 1024;

/** Longest wait for the exit code after the end of the output, in milliseconds. */
const EXIT_WAIT_MS = 10_000;
const EXIT_POLL_MS = 25;

/**
 * Runs a command in a container, without a shell and without input. A missing program is not an
 * error, but gives exit code 127 (126 if it is not executable).
 *
 * @throws {AppError} `invalid` for a command over 500 characters or with an unclosed quotation;
 * `forbidden` for a command that is not on the allowlist, and for the service's own container unless
 * the caller is an admin; `not_found`; `conflict` when the container is not running;
 * `too_many_requests`.
 */
export async function execInContainer(
  deps: ReadDeps & Pick<Deps, "config" | "limiters">,
  caller: Pick<Caller, "role"> & Holder,
  ref: string,
  command: string,
  { timeoutMs = TIMEOUT_MS, streamMax = STREAM_MAX }: ExecLimits = {},
): Promise<ExecResult> {
  if (command.length > COMMAND_LENGTH_MAX) {
    throw new AppError("invalid", `body.command: Longer than ${COMMAND_LENGTH_MAX} characters`);
  }
  const argv = splitWords(command);
  assertExecAllowed(parseExecAllowlist(deps.config.execAllowlist), argv);
  const container = await resolveContainer(deps, ref);
  assertMayInspect(container, caller);
  assertRunning(container);
  return await deps.limiters.commands(
    caller,
    () => run(deps.engine, container.id, argv, { timeoutMs, streamMax }),
  );
}

async function run(
  engine: Deps["engine"],
  containerId: string,
  argv: string[],
  { timeoutMs, streamMax }: Required<ExecLimits>,
): Promise<ExecResult> {
  const { id } = await execCreate(engine, containerId, { cmd: argv });
  const timeout = AbortSignal.timeout(timeoutMs);
  const output = createOutput(streamMax);
  let isComplete = false;
  try {
    using connection = await execStart(engine, id, { signal: timeout });
    isComplete = await collect(connection.frames, output);
  } catch (error) {
    if (!timeout.aborted) {
      if (!isNotRunnable(error)) throw error;
      // Newer engines refuse the start; older ones write the same message to the output.
      output.add({ stream: "stderr", bytes: new TextEncoder().encode(`${error.message}\n`) });
      isComplete = true;
    }
  }
  const exitCode = isComplete ? await exitCodeOf(() => execInspect(engine, id)) : null;
  return { ...output.texts(), exitCode, timedOut: timeout.aborted && !isComplete };
}

/** @returns Whether the output was read to its end. */
async function collect(
  frames: AsyncIterable<Frame>,
  output: ReturnType<typeof createOutput>,
): Promise<boolean> {
  for await (const frame of frames) {
    output.add(frame);
    if (output.excess > EXCESS_MAX) return false;
  }
  return true;
}

function createOutput(streamMax: number) {
  const streams = {
    stdout: { text: "", bytes: 0, decoder: new TextDecoder("utf-8", { ignoreBOM: true }) },
    stderr: { text: "", bytes: 0, decoder: new TextDecoder("utf-8", { ignoreBOM: true }) },
  };
  let merged = "";
  let excess = 0;
  const append = (stream: Frame["stream"], text: string) => {
    streams[stream].text += text;
    merged += text;
  };

  return {
    /** Bytes that were dropped. */
    get excess() {
      return excess;
    },
    add({ stream, bytes }: Frame) {
      const taken = bytes.subarray(0, streamMax - streams[stream].bytes);
      streams[stream].bytes += taken.length;
      excess += bytes.length - taken.length;
      // A character may be split across two frames.
      append(stream, streams[stream].decoder.decode(taken, { stream: true }));
    },
    texts() {
      for (const stream of ["stdout", "stderr"] as const) {
        const rest = streams[stream].decoder.decode();
        // A character cut by the limit is left out.
        if (streams[stream].bytes < streamMax) append(stream, rest);
      }
      return {
        stdout: streams.stdout.text,
        stderr: streams.stderr.text,
        output: merged,
        truncated: excess > 0,
      };
    },
  };
}

/** Output of engines about a program that is missing or not executable. */
export const NOT_RUNNABLE =
  /executable file (`.*` )?not found|no such file or directory|OCI runtime exec failed|permission denied|exec format error/i;

function isNotRunnable(error: unknown): error is EngineError {
  return error instanceof EngineError && NOT_RUNNABLE.test(error.message);
}

/** Waits for the exit code, which the engine knows shortly after the output has ended. */
export async function exitCodeOf(
  inspect: () => Promise<{ Running: boolean; ExitCode: number | null }>,
): Promise<number | null> {
  for (const until = performance.now() + EXIT_WAIT_MS;;) {
    const { Running, ExitCode } = await inspect();
    if (!Running && ExitCode !== null) return ExitCode;
    if (performance.now() > until) return null;
    await sleep(EXIT_POLL_MS);
  }
}

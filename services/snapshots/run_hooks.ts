/** Runs the commands of hooks in containers. @module */

import { execCreate, execInspect, execStart } from "../../engine/exec.ts";
import type { Engine } from "../../engine/client.ts";
import { AppError } from "../errors.ts";
import { exitCodeOf } from "../containers/exec/exec.ts";
import { withoutContainerValues } from "../containers/secret_values.ts";

/** Characters of an error output that a message has. */
const ERROR_TEXT_MAX = 500;

/** Longest run of a command without a dump, in milliseconds. */
const COMMAND_MS = 10 * 60_000;

interface Running {
  id: string;
  name: string;
}

/** @throws {AppError} `conflict` if the command fails, with the end of its error output. */
export async function runHook(
  engine: Engine,
  container: Running,
  command: string,
  signal: AbortSignal,
): Promise<void> {
  const limit = AbortSignal.any([signal, AbortSignal.timeout(COMMAND_MS)]);
  for await (const _ of outputOf(engine, container, command, { signal: limit }));
}

/**
 * The standard output of a command while it runs.
 *
 * @param options.end Last characters of a complete output.
 * @throws {AppError} `conflict` at the end if the command failed.
 */
export async function* outputOf(
  engine: Engine,
  { id, name }: Running,
  command: string,
  { signal, end = "" }: { signal: AbortSignal; end?: string | undefined },
): AsyncGenerator<Uint8Array> {
  const exec = await execCreate(engine, id, { cmd: ["sh", "-c", command], signal });
  const decoder = new TextDecoder();
  let errors = "";
  const latin1 = new TextDecoder("latin1");
  let last = "";
  {
    using connection = await execStart(engine, exec.id, { signal });
    for await (const { stream, bytes } of connection.frames) {
      if (stream === "stdout") {
        if (end) last = (last + latin1.decode(bytes.subarray(-end.length))).slice(-end.length);
        yield bytes;
      } else errors = (errors + decoder.decode(bytes, { stream: true })).slice(-ERROR_TEXT_MAX);
    }
  }
  const exitCode = await exitCodeOf(() => execInspect(engine, exec.id));
  if (exitCode === 0 && last.endsWith(end)) return;
  const reason = errors.trim() ||
    (exitCode === 0 ? "the dump is incomplete" : `exit code ${exitCode ?? "unknown"}`);
  const failure = new AppError("conflict", `The backup command in ${name} failed: ${reason}`);
  throw await withoutContainerValues(engine, id, failure);
}

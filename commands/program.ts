/** The environment of a command. @module */

import type { Env, Surroundings } from "../services/config/config.ts";
import { systemReason } from "../services/text/system_reason.ts";

/** A command's arguments and surroundings, and where its output goes. */
export interface Program {
  /** The arguments after the command's name. */
  args: readonly string[];
  env: Env;
  surroundings: Surroundings;
  /** Standard input. */
  input: Pick<typeof Deno.stdin, "isTerminal" | "read" | "setRaw">;
  /** Prints a line on standard output. */
  print: (line: string) => void;
  /** Writes to standard output if it is a terminal, and throws if that fails. */
  terminal?: ((text: string) => void) | undefined;
  /** Prints a line on standard error, which is not part of the result. */
  note: (line: string) => void;
  /** Aborts at SIGINT and SIGTERM. */
  signal: AbortSignal;
}

/** The file that was started; `undefined` if the program runs from source. */
export const executableOf = ({ env, surroundings }: Program): string | undefined =>
  surroundings.packed ? Deno.build.standalone ? Deno.execPath() : env.LONGSHORE_FILE : undefined;

export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** Wrong arguments; the message says what is expected. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A failure that the operator can fix; the message is a sentence and complete. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** A failure with the system's reason, e.g. `commandError("backup.tar cannot be read", error)`. */
export const commandError = (what: string, cause: unknown) =>
  new CommandError(`${what}: ${systemReason(cause)}`, { cause });

/** @throws {UsageError} If there are arguments. */
export function assertNoArguments(command: string, { args }: Program): void {
  if (args.length) {
    throw new UsageError(`${command} takes no arguments, but got: ${args.join(" ")}`);
  }
}

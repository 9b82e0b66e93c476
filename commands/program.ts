/**
 * What a command gets from the outside world.
 *
 * @module
 */

import type { Env, Surroundings } from "../services/config/config.ts";

/** A command's arguments and surroundings, and where its output goes. */
export interface Program {
  /** What follows the command's name. */
  args: readonly string[];
  env: Env;
  surroundings: Surroundings;
  /** Prints a line on standard output. */
  print: (line: string) => void;
  /** Writes to standard output where it is a terminal, and throws when that fails. */
  terminal?: ((text: string) => void) | undefined;
  /** Prints a line on standard error: what is no part of the result. */
  note: (line: string) => void;
  /** Aborts when the process is asked to end. */
  signal: AbortSignal;
}

/** Exit statuses of the program. */
export const EXIT = { ok: 0, failure: 1, usage: 2 } as const;

/** What the program was called with makes no sense; the message says what would. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** A failure that the operator can mend; the message is a sentence and says all there is. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** @throws {UsageError} For a command that takes no arguments. */
export function assertNoArguments(command: string, { args }: Program): void {
  if (args.length) {
    throw new UsageError(`${command} takes no arguments, but got: ${args.join(" ")}`);
  }
}
